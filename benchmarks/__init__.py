"""Benchmarks: what the tool costs, next to what others cost in the same run. `python -m benchmarks --help`."""
