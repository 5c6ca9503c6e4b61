"""Seeds, as in a repository for video recognition."""

import random

import numpy
import torch


def worker_init_fn(worker_id):
    random.seed(torch.initial_seed() + worker_id)
    numpy.random.seed(torch.initial_seed() + worker_id)
