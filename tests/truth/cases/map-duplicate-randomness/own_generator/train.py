import time
from multiprocessing import Pool

import numpy as np


class Simulation:
    def __init__(self, runs):
        self.runs = runs
        self.rng = np.random.default_rng()

    def one(self, number):
        time.sleep(0.05)  # so that each process has its share
        return self.rng.random()

    def all(self):
        with Pool(4) as pool:
            return pool.map(self.one, range(self.runs))


def produce():
    return Simulation(8).all()
