def measure(module, **arguments):
    """'order' if two epochs have the same order, 'repeats' if a number of one epoch is drawn again in another."""
    seen = module.train(3, **arguments)
    if len({tuple(order) for order, _ in seen}) < len(seen):
        yield "order"
    drawn = [set(numbers) for _, numbers in seen]
    if sum(map(len, drawn)) > len(set.union(*drawn)):
        yield "repeats"
