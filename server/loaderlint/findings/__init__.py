"""What there is to say about a file, and what keeps it from being said: suppressions and baselines."""
