"""Whether PyTorch warns of memory that cannot be written."""

import warnings


def measure(module):
    warnings.filterwarnings("error", message="The given (NumPy array|buffer) is not writable")
    try:
        for _ in module.make_loader():
            pass
    except UserWarning:  # forked workers have the filter too
        return ["unwritable"]
    return []
