import time
from multiprocessing import Pool

import numpy as np


def noisy(value):
    time.sleep(0.05)  # so that each process has its share
    return value * 0 + np.random.rand()


def produce():
    with Pool(4) as pool:
        return pool.map(noisy, range(8))
