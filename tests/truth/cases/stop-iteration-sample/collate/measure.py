"""Whether an epoch ends early and nothing is said."""


def measure(module):
    loader = module.make_loader()
    try:
        batches = sum(1 for _ in loader)
    except RuntimeError:
        return []
    return ["short"] if batches < len(loader) else []
