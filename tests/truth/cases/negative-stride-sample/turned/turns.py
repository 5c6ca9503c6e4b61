"""Quarter turns."""

import numpy as np


def turned(tile, turns):
    return np.rot90(tile, turns)
