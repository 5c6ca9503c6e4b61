import time
from multiprocessing import Pool

import numpy as np


def start():
    np.random.seed()


def work(value):
    time.sleep(0.05)
    return np.random.rand()


def produce():
    np.random.seed(0)
    with Pool(4, initializer=start) as pool:
        return pool.map(work, range(8))
