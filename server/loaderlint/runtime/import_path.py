"""Removes the folder that loaderlint runs in from Python's module path: the code there is read, never imported.

`python -m` puts the current folder first, and so does an empty or relative entry in PYTHONPATH. This module uses only
modules that Python has loaded already, because every other import would search that folder first."""

import os
import sys


def isolate() -> None:
    """Stop importing modules from the current folder."""
    sys.path[:] = trusted()


def trusted() -> list[str]:
    """`sys.path` without the current folder and without relative entries of PYTHONPATH. Folders with loaderlint,
    installed packages or the standard library stay, even if one of them is the current folder."""
    refused = _refused()
    found = [entry for entry in sys.path if os.path.isabs(entry)]
    if refused.isdisjoint(map(os.path.realpath, found)):
        return found
    refused -= _installed()
    return [entry for entry in found if os.path.realpath(entry) not in refused]


def _refused() -> set[str]:
    try:
        found = {os.path.realpath(os.getcwd())}
    except OSError:  # the current folder is gone
        return set()
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return found | {os.path.realpath(entry) for entry in entries if not os.path.isabs(entry)}


def _installed() -> set[str]:
    import site  # loaded when Python starts

    packages = [*site.getsitepackages(), site.getusersitepackages()]
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return {os.path.realpath(folder) for folder in (*packages, os.path.dirname(os.__file__), own)}
