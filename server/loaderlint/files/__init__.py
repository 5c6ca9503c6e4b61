"""Finding and reading files: what is on disk is hostile until it is read."""
