"""What one piece of a file says, as plain data: `ir` is the form, `lower.lower` makes it from a parsed piece."""
