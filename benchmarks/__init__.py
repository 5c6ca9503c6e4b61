"""Benchmarks: the cost of loaderlint, next to that of other tools in the same run. `python -m benchmarks --help`."""
