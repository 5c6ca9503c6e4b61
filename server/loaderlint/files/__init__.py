"""Finding and reading files. Everything on disk is treated as hostile."""
