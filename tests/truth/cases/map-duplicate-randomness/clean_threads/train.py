import random
import time
from multiprocessing import Pool
from multiprocessing.pool import ThreadPool

import numpy as np


def work(index):
    time.sleep(0.05)
    return np.random.rand()


def work_in_process(index):
    time.sleep(0.05)
    return random.random()


def produce():
    np.random.seed(0)
    random.seed(0)
    with ThreadPool(4) as threads, Pool(4) as processes:
        return threads.map(work, range(8)) + processes.map(work_in_process, range(8))
