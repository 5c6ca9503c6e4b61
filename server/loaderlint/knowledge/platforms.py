"""What does not exist on all platforms: modules that cannot be imported elsewhere, and functions that modules lack."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

_LINUX = ("linux",)
_UNIX = ("linux", "macos")

#: Modules and functions, each with the platforms that have it. Sources: the documentation of Python 3.14
#: ("Availability: Unix"), of DALI and of RAPIDS (Linux; on Windows under WSL 2, which is Linux), and of uvloop. The
#: modules of Colab and Kaggle are only on the machines of these services, which run Linux. What others provide on more
#: platforms is left out: `curses` (windows-curses), `readline`, `triton`.
ONLY_ON = MappingProxyType(
    {
        **dict.fromkeys("nvidia.dali cucim cudf cugraph cuml kvikio".split(), _LINUX),
        **dict.fromkeys("google.colab kaggle_datasets kaggle_secrets".split(), _LINUX),
        **dict.fromkeys("os.sched_getaffinity os.sched_setaffinity os.memfd_create".split(), _LINUX),
        **dict.fromkeys("crypt fcntl grp posix pty pwd resource spwd syslog termios uvloop".split(), _UNIX),
        **dict.fromkeys("os.getuid os.geteuid os.getgid os.getloadavg os.killpg os.setsid os.sysconf".split(), _UNIX),
        **dict.fromkeys("os.uname signal.alarm signal.setitimer".split(), _UNIX),
    }
)


class Backend(NamedTuple):
    """A value of an argument with which a function works only on some `platforms`: the argument at `position`, also
    given by `keyword`."""

    position: int
    keyword: str
    value: str
    platforms: tuple[str, ...]


#: Functions that raise on other platforms with one value of an argument. PyTorch has NCCL for Linux only. Elsewhere the
#: call raises "Distributed package doesn't have NCCL built in": measured with a torch 2.13 that is built without it.
ONLY_ON_WITH = MappingProxyType({"torch.distributed.init_process_group": Backend(0, "backend", "nccl", _LINUX)})


def platforms_of(name: str) -> tuple[str, ...]:
    """The platforms that have what a name in one of the tables stands for."""
    return ONLY_ON_WITH[name].platforms if name in ONLY_ON_WITH else ONLY_ON[name]
