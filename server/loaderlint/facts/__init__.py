"""What one piece of a file says, as plain data: `ir` is the form, `piece_facts` makes it from a piece."""
