"""Loaders of the project that read their dataset themselves, in the process that iterates over them.

`DataLoader.__init__` starts no process: only `DataLoader.__iter__` does. A subclass whose own `__iter__` never gets
there has no workers, whatever number it is given. Nor has a class that only has the name of torch's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import ClassRef, FunctionRef
from loaderlint.project.modules.dependencies import holds
from loaderlint.project.modules.module_refs import ModuleRef

TORCH_LOADER = "torch.utils.data.DataLoader"
_NAME = "DataLoader"
#: Attributes that hold a dataset, not a loader that has one.
_DATASET = re.compile(r"_*data(?!_?loader)", re.IGNORECASE)
#: Bases that have no code that could start workers.
_INERT = ("typing.", "abc.", "collections.abc.", "builtins.")
#: What starts or holds torch's workers, or processes of the class itself.
_STARTS = re.compile(
    r"(?<!def )__iter__|\b_(?:get_)?iterator\b|DataLoaderIter|[Pp]rocess|\bmp\b|(?<!Thread)Pool|\bfork"
)
_READS = (ir.Index, ir.Element)
#: Calls that take `self` and hand it to no code that could iterate over it in torch's way.
_LOOKS = frozenset("len super id isinstance hasattr getattr setattr type repr str".split())


def loader_instead_of_torchs(ev: Evaluator) -> ClassRef | None:
    """The project's own class `DataLoader`, if it reads its dataset itself and the project names no other class so."""
    paths = ev.files.containing(_NAME)
    named = {one for path in paths for one in _named(ev, path)}
    owns = [one for one in named if one is not None]
    if len(owns) != len(named):
        return None
    return next((one for one in owns if reads_itself(ev, one) and _reads_dataset(ev, one)), None)


def _named(ev: Evaluator, path: Path) -> Iterator[ClassRef | None]:
    """The classes of the project that a file calls `DataLoader`; None for what is not one."""
    file = ev.file(path)
    if file is None:
        return
    if _NAME in file.names:
        yield from _classes(ev, path)
    for facts in (ev.facts(path, piece) for piece in file.mentioning(_NAME)):
        for e in facts.ir.exprs if facts is not None else ():
            match e:
                case ir.Global(name) if name == _NAME:
                    yield from _classes(ev, path)
                case ir.Imported(module, name, level) if name is not None and _NAME in name:
                    if not isinstance(ev.names.resolve(path, module, level), ModuleRef):
                        yield None
                case ir.Attr(base, name) if _NAME in name and facts is not None:
                    if not _is_module(ev, path, facts.ir.exprs[base]):
                        yield None
                case ir.Const("str", str(text)) if f".{_NAME}" in text:
                    yield None


def _classes(ev: Evaluator, path: Path) -> Iterator[ClassRef | None]:
    for atom in ev.names.lookup(path, _NAME).atoms:
        yield atom if isinstance(atom, ClassRef) and not ev.installed.holds(atom.path) else None


def _is_module(ev: Evaluator, path: Path, e: ir.Expr) -> bool:
    """Whether an expression names a module of the project."""
    return isinstance(e, ir.Global) and all(isinstance(one, ModuleRef) for one in ev.names.lookup(path, e.name).atoms)


def _reads_dataset(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a method reads items of the dataset that the object keeps, or iterates over it."""
    for member in ev.classes.methods_asked(cls, holds, "self"):
        exprs = ev.code(member.function).exprs if member.function is not None else ()
        for e in exprs:
            read = exprs[e.base if isinstance(e, ir.Index) else e.iterable] if isinstance(e, _READS) else None
            if isinstance(read, ir.Attr) and ir.is_self(exprs[read.base]) and _DATASET.match(read.name):
                return True
    return False


def reads_itself(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a class of loaders reads the dataset in the process that iterates over it."""
    own = ev.classes.member(cls, "__iter__")
    if own is None or own.function is None or ev.classes.has_unknown_base(cls):
        return False
    libraries = ev.classes.library_bases(cls)
    if any(name != TORCH_LOADER and not name.startswith(_INERT) for name in libraries):
        return False
    if any(True for _ in ev.classes.methods_asked(cls, _starts_workers)):
        return False
    methods = ev.classes.methods_asked(cls, holds, "self")
    return not any(_hands_itself_on(ev, member.function) for member in methods if member.function is not None)


def _starts_workers(text: str) -> bool:
    """Whether a piece names what starts workers."""
    return _STARTS.search(text) is not None


def _hands_itself_on(ev: Evaluator, function: FunctionRef) -> bool:
    """Whether a method passes the loader to code that may iterate over it: `return Prefetcher(self)`."""
    exprs = ev.code(function).exprs
    return any(
        isinstance(e, ir.Call) and any(_passes_self(arg, exprs) for arg in e.args) and not _is_harmless(e, exprs)
        for e in exprs
    )


def _passes_self(arg: ir.Arg, exprs: Sequence[ir.Expr]) -> bool:
    """Whether an argument is the loader. `*args` of a static method has the place of `self` too, and `*self` asks for
    the class's own `__iter__`."""
    return arg.kind in ("pos", "kw") and ir.is_self(exprs[arg.value])


def _is_harmless(call: ir.Call, exprs: Sequence[ir.Expr]) -> bool:
    """Whether a call of `len(self)` or `DataLoader.__init__(self, ...)`."""
    match exprs[call.func]:
        case ir.Global(name):
            return name in _LOOKS
        case ir.Attr(_, name):
            return name in ("__init__", "__setattr__", "__len__")
    return False
