"""The commands of the command line, one module per command, imported when the command runs.

A command is a function of the parsed arguments that returns the exit code (`loaderlint.report.exit_codes`).
`loaderlint.cli` declares the arguments."""

#: The default file name of a baseline.
BASELINE = "loaderlint-baseline.json"
