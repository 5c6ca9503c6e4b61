import time
from multiprocessing import Pool

import numpy as np


def work(index):
    time.sleep(0.05)
    return np.random.default_rng((1234, index)).random()


def produce():
    np.random.seed(0)
    with Pool(4) as pool:
        return pool.map(work, range(8))
