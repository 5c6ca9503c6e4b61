def measure(module):
    """'together': two workers are inside the lock at the same time."""
    spans = sorted([float(moment) for moment in span] for span in module.make_loader())
    if any(before[1] > after[0] for before, after in zip(spans, spans[1:])):
        yield "together"
