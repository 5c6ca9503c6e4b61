"""What gives numbers that are bounded, or that the environment says.

Sources: CPython's `os` and `multiprocessing`, psutil, joblib. `os.cpu_count()` is None where the system does not tell:
no system that PyTorch runs on."""

from __future__ import annotations

#: Functions that give how many processors there are, or may be used: at least one.
ALWAYS_ONE = frozenset(
    """
    os.cpu_count os.process_cpu_count multiprocessing.cpu_count torch.multiprocessing.cpu_count psutil.cpu_count
    joblib.cpu_count joblib.effective_n_jobs loky.cpu_count torch.get_num_threads
    """.split()
)

#: Functions that give a variable of the environment, or the default that they are given.
ENVIRONMENT = frozenset({"os.environ.get", "os.getenv"})
