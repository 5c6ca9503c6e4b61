"""The exit codes of the command line."""

#: No findings; findings; the work could not be done.
DONE, FINDINGS, FAILED = 0, 1, 2
