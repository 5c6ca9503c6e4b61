"""What there is to report about a file, and what suppresses it: comments and baselines."""
