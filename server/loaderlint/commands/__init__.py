"""What each command of the command line does: one module a command, imported when it is run.

A command is a function of the parsed arguments that returns the exit code (`loaderlint.report.exit_codes`).
`loaderlint.cli` declares the arguments."""

#: The name of a baseline that nobody named.
BASELINE = "loaderlint-baseline.json"
