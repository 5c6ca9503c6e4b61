def measure(module, **arguments):
    """'order' if two shuffled epochs have the same order."""
    seen = module.train(3, **arguments)
    shuffled = [epoch for epoch in seen if epoch != sorted(epoch)]
    if len({tuple(epoch) for epoch in shuffled}) < len(shuffled):
        yield "order"
