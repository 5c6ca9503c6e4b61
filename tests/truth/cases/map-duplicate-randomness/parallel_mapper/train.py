import time

import numpy as np
from torchdata.nodes import IterableWrapper, ParallelMapper


class Jitter:
    def __call__(self, value):
        time.sleep(0.05)  # so that each process has its share
        return float(np.random.uniform(-1, 1))


def produce():
    np.random.seed(0)
    return list(ParallelMapper(IterableWrapper(range(8)), Jitter(), num_workers=4, method="process"))
