"""Whether later epochs are empty."""

import itertools


def measure(module):
    loader = module.make_loader()
    batches = [len(list(itertools.islice(loader, 20))) for _ in range(3)]
    return ["empty"] if 0 in batches[1:] else []
