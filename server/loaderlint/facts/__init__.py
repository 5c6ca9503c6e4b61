"""The facts of one piece, as plain data: `ir` defines their form, `piece_facts` computes them."""
