"""Runs a user's program, and audits each of its loaders when it is first iterated.

Started by `loaderlint audit` as `python -m loaderlint.audit.program OPTIONS`, in the interpreter of the project. Events
go to a pipe, one per line; standard output belongs to the program.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import runpy
import signal
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

from msgspec import Struct

from loaderlint.audit.user_places import is_library

#: PyTorch's module of the DataLoader.
DATALOADER = "torch.utils.data.dataloader"

#: Files that may configure which dataset is read, and how. A longer one is data.
_SETTINGS = frozenset({".cfg", ".ini", ".json", ".toml", ".yaml", ".yml"})

#: The program ends when a loader has been iterated this often, even if others were not iterated yet.
_PASSES = 3


class Enough(BaseException):
    """All loaders were audited, so the program ends here. It is a BaseException, so that no `except Exception` of the
    program catches it."""


class Options(Struct, frozen=True):
    """How to audit the loaders, and the program to run: a file or, if `module`, the name of a module."""

    report: int
    epochs: int
    batches: int
    ranks: int
    timeout: float
    module: bool
    program: str
    arguments: tuple[str, ...]


def main(words: Sequence[str]) -> int:
    """Run the program and return its exit code. `words`: `Options` as JSON."""
    given = json.loads(words[0])
    options = Options(**{**given, "arguments": tuple(given["arguments"])})
    watch = Watch(options)
    sys.addaudithook(watch.opened)
    signal.signal(signal.SIGTERM, _leave)
    if module := sys.modules.get(DATALOADER):  # a sitecustomize imported it
        watch.patch(module)
    sys.meta_path.insert(0, _Patch(watch))
    try:
        _run(options)
    except Enough:
        watch.tell("stopped")
    except KeyboardInterrupt:
        watch.tell("interrupted")
    except SystemExit as leave:
        if leave.code not in (None, 0):
            watch.tell("failed", text=f"the program ended with exit code {leave.code}")
    except BaseException as error:
        watch.tell("failed", text=_traceback(error))
    watch.tell("ended", unseen=watch.unseen())
    return 0


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise Enough


def _run(options: Options) -> None:
    """Run the program as Python would, as `__main__`."""
    sys.argv = [options.program, *options.arguments]
    if options.module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(options.program).resolve().parent)
        runpy.run_path(options.program, run_name="__main__")


def _traceback(error: BaseException) -> str:
    """The traceback without the frames of loaderlint and runpy."""
    ours = (str(Path(__file__).parent), "<frozen runpy>", runpy.__file__)
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename.startswith(ours):
        at = at.tb_next
    return "".join(traceback.format_exception(type(error), error, at))


class Watch:
    """Watches the loaders of the program: which were made, and which were audited."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._pid = os.getpid()
        self._made: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()
        self._audited = 0
        self._settings: set[str] = set()
        self._held: weakref.WeakKeyDictionary[Any, tuple[int, Any]] = weakref.WeakKeyDictionary()
        self._passes: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def tell(self, event: str, **more: Any) -> None:
        """Send one event to the process that started this one."""
        if os.getpid() == self._pid:
            os.write(self._options.report, (json.dumps({"event": event, **more}) + "\n").encode())

    def unseen(self) -> list[str]:
        """The places of the loaders that were never iterated and still exist."""
        return [_named(places) for loader, places in self._made.items() if loader not in self._passes]

    def opened(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Python's audit hook: record the settings files that the program opens."""
        if event == "open" and isinstance(file := arguments[0], str) and os.path.splitext(file)[1] in _SETTINGS:
            if not is_library(file):
                self._settings.add(os.path.abspath(file))

    def patch(self, module: ModuleType) -> None:
        """Watch the DataLoader of PyTorch's module."""
        loader = module.DataLoader
        make, iterate = loader.__init__, loader.__iter__

        def made(this: Any, *arguments: Any, **keywords: Any) -> None:
            make(this, *arguments, **keywords)
            self._made[this] = _places(sys._getframe(1))

        def iterated(this: Any) -> Any:
            return self._iterated(this, iterate)

        loader.__init__, loader.__iter__ = made, iterated

    def _iterated(self, loader: Any, iterate: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        if os.getpid() != self._pid:
            return iterate(loader)
        passes = self._passes.get(loader, 0)
        if passes == 1:
            self._compare_epochs(loader)
        if passes and (not self.unseen() or passes >= _PASSES):
            raise Enough
        self._passes[loader] = passes + 1
        if not passes:
            self._audit(loader)
        return _first(iterate(loader), self._options.batches)

    def _audit(self, loader: Any) -> None:
        from loaderlint.audit.auditing import attributes_now, audit

        options = self._options
        made = self._made.get(loader, ())
        name = _named(made)
        self.tell("auditing", name=name)
        report = audit(
            loader,
            epochs=options.epochs,
            batches=options.batches,
            ranks=options.ranks,
            timeout=options.timeout,
            name=f"loader at {name}",
        )
        folder = os.getcwd()  # to which the places of the report are relative
        if before := attributes_now(loader):
            self._held[loader] = (self._audited, before)
        self._audited += 1
        self.tell("report", report=report.as_data(), folder=folder, made=made, settings=sorted(self._settings))

    def _compare_epochs(self, loader: Any) -> None:
        """Test, when a second epoch begins, whether persistent workers get what the program has set since the first
        one."""
        from loaderlint.audit.auditing import stale_state

        if loader in self._held:
            number, before = self._held.pop(loader)
            self.tell("result", loader=number, result=stale_state(loader, before, self._options.timeout).as_data())


def _first(batches: Iterator[Any], count: int) -> Iterator[Any]:
    """The first batches; the others are not requested."""
    for _ in range(count):
        try:
            yield next(batches)
        except StopIteration:
            return


def _places(frame: FrameType | None) -> tuple[str, ...]:
    """The lines of the program that made a loader, innermost first, relative to the current folder: 'train.py:40'."""
    found = []
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            path = Path(frame.f_code.co_filename)
            with contextlib.suppress(ValueError):
                path = path.resolve().relative_to(Path.cwd())
            found.append(f"{path.as_posix()}:{frame.f_lineno}")
        frame = frame.f_back
    return tuple(found)


def _named(places: Sequence[str]) -> str:
    """The line that made a loader, for people."""
    return places[0] if places else "an unknown place"


class _Patch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Patches PyTorch's module when the program imports it: not earlier, because the program may set environment
    variables first."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._loader: Any = None

    def find_spec(
        self, name: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != DATALOADER:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._watch.patch(module)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
