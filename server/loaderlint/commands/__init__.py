"""What each command of the command line does: one module a command, imported when it is run.

A command is a function of the parsed arguments that returns the exit code: 0 no findings, 1 findings, 2 the work could
not be done. `loaderlint.cli` declares the arguments."""

DONE, FINDINGS, FAILED = 0, 1, 2

#: The name of a baseline that nobody named.
BASELINE = "loaderlint-baseline.json"
