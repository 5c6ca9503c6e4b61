"""What only Unix or only Linux has is asked for where it is used: every module can be imported without it."""

from __future__ import annotations

import subprocess
import sys

#: Run in a process of its own. Libraries are imported first: they ask for the platform's name, which stays.
SCRIPT = """
import asyncio, concurrent.futures, getpass, importlib, importlib.metadata, multiprocessing.pool, os, pkgutil, platform
import pydoc, shutil, socket, sqlite3, subprocess, sys, tempfile, webbrowser, zipfile
import libcst, msgspec, packaging.requirements, pygls.lsp.server, rich.console, rich.markdown, rich.progress
import loaderlint

UNIX = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")

class Windows:
    def find_spec(self, name, path=None, target=None):
        if name in UNIX:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in UNIX:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Windows())
for name in (
    "O_NOCTTY O_NOFOLLOW O_NONBLOCK chown confstr fork geteuid getuid killpg mkfifo sched_getaffinity setsid sysconf"
).split():
    if hasattr(os, name):
        delattr(os, name)
for module in pkgutil.walk_packages(loaderlint.__path__, "loaderlint."):
    if not module.name.endswith(("__main__", "start_child")):  # these begin to work when they are imported
        importlib.import_module(module.name)
print("imported", len([name for name in sys.modules if name.startswith("loaderlint.")]))
"""


def test_every_module_can_be_imported_without_unix() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) > 300
