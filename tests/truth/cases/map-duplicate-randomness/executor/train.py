import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np


def work(value, scale):
    time.sleep(0.05)  # so that each process has its share
    return float(np.random.normal(0, scale))


def produce():
    np.random.seed(0)
    with ProcessPoolExecutor(max_workers=4) as executor:
        return [future.result() for future in [executor.submit(work, value, 2.0) for value in range(8)]]
