"""What programs read from YAML configurations: `cfg.data.num_workers` in a function under `@hydra.main`, and the
objects that `instantiate(cfg.dataset)` makes.

A run without overrides has the configuration that `@hydra.main` names, so it counts like the default of an option. It
is combined as Hydra does, from the files that its `defaults` name.

Sources: hydra `_internal/defaults_list.py`, `_internal/config_loader_impl.py`,
`_internal/instantiate/_instantiate2.py`; omegaconf `grammar_parser.py`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.registries import makes_configured, passes_arguments
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import TOO_MANY
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import (
    ClassRef,
    Instance,
    Lib,
    Literal_,
    MapOf,
    Namespace,
    SeqOf,
    Site,
    Val,
    of,
    unknown,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The beginning of `Namespace.how` of a node; the keys that lead to the node follow.
_NODE = "yaml:"
#: The source of such a constant in messages.
SOURCE = "configuration default"
#: The files of one configuration, the items of a node, the steps from one reference to another, the parts of a path.
_MAX_FILES = 64
_MAX_ITEMS = 256
_MAX_REFERENCES = 8
_MAX_PATH = 12
_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")
_SAME_PATH = ("builtins.str", "pathlib.Path", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath")
_MISSING = object()
#: The keywords of `instantiate` itself.
_OF_HYDRA = frozenset({"_target_", "_args_", "_partial_", "_recursive_", "_convert_"})


class YamlConfigurations:
    """The configurations of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._composed: dict[Path, Mapping[str, object]] = {}

    # --- nodes --------------------------------------------------------------------------------------------------------

    def of_main(self, decorator: ir.Call, frame: Frame) -> Val | None:
        """The argument that `@hydra.main(config_path=..., config_name=...)` passes to the function; None if the file is
        not known."""
        named = {arg.name: arg.value for arg in decorator.args if arg.kind == "kw"}
        positional = [arg.value for arg in decorator.args if arg.kind == "pos"]
        folder = _path(self._ev, named.get("config_path", positional[0] if positional else ir.NONE), frame)
        name = _path(self._ev, named.get("config_name", positional[1] if len(positional) > 1 else ir.NONE), frame)
        if folder is None or name is None:
            return None
        path = Path(os.path.normpath(frame.path.parent / folder / f"{name.removesuffix('.yaml')}.yaml"))
        return of(Namespace(path, _NODE)) if self._whole(path) else None

    def written_path(self, number: int, frame: Frame) -> str | None:
        """A path that is written with `__file__`, `os.path` and `pathlib`, or None."""
        return _path(self._ev, number, frame)

    def attribute(self, node: Namespace, name: str) -> Val:
        """Item `name` of a node."""
        keys = (*_keys(node), name)
        return self._as_value(node.path, keys, self._at(node.path, keys))

    def as_map(self, node: Namespace) -> MapOf | None:
        """A node as a dict; None for other namespaces."""
        found = self._at(node.path, _keys(node)) if is_node(node) else None
        if not isinstance(found, Mapping):
            return None
        names = [name for name in list(found)[:_MAX_ITEMS] if name]
        values = [self.attribute(node, name) for name in names]
        if len(found) > _MAX_ITEMS:
            return MapOf((*names, None), (*values, unknown(TOO_MANY)))
        return MapOf(tuple(names), tuple(values))

    def _as_value(self, path: Path, keys: tuple[str, ...], found: object) -> Val:
        if isinstance(found, Mapping):
            return of(Namespace(path, _NODE + ".".join(keys)))
        if isinstance(found, list):
            if len(found) > _MAX_ITEMS:
                return unknown(TOO_MANY)
            inner = [(*keys, str(index)) for index in range(len(found))]
            return of(SeqOf("list", tuple(self._as_value(path, each, self._at(path, each)) for each in inner)))
        if found is None or isinstance(found, str | int | float | bool):
            return of(Literal_(type(found).__name__, found, SOURCE))
        return unknown("config")

    def _at(self, path: Path, keys: tuple[str, ...], references: int = 0) -> object:
        """The value under some keys of a configuration, with references (`${name}`) followed; `_MISSING` if there is
        none, or if it is not known."""
        found = self._followed(path, self._whole(path), references)
        for key in keys:
            if isinstance(found, Mapping) and key in found:
                found = self._followed(path, found[key], references)
            elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
                found = self._followed(path, found[int(key)], references)
            else:
                return _MISSING
        return found

    def _followed(self, path: Path, found: object, references: int) -> object:
        if not isinstance(found, str) or "${" not in found:
            return found
        named = _REFERENCE.fullmatch(found)
        if named is None or references >= _MAX_REFERENCES:
            return _MISSING
        return self._at(path, tuple(named[1].split(".")), references + 1)

    # --- files --------------------------------------------------------------------------------------------------------

    def _whole(self, path: Path) -> Mapping[str, object]:
        """The configuration that a file names, with those that it includes; empty if it cannot be read."""
        if path not in self._composed:
            with provisional(self._composed, path, {}):
                self._composed[path] = self._compose(path, path.parent, [_MAX_FILES])
        return self._composed[path]

    def _compose(self, path: Path, root: Path, left: list[int]) -> Mapping[str, object]:
        """A file and the files that its `defaults` include from the folder `root`; at most `left` files are read."""
        left[0] -= 1
        document = self._ev.files.configuration(path) if left[0] >= 0 else None
        if not isinstance(document, Mapping):
            return {}
        own = {key: value for key, value in document.items() if key != "defaults"}
        entries = document.get("defaults")
        entries = entries[:_MAX_ITEMS] if isinstance(entries, list) else []
        found: Mapping[str, object] = {}
        for entry in entries if "_self_" in entries else [*entries, "_self_"]:
            if entry == "_self_":
                found = _merged(found, own)
            for taken, package in _taken_in(entry, path.parent, root):
                inner = self._compose(taken, root, left)
                for name in reversed(package):
                    inner = {name: inner}
                found = _merged(found, inner)
        return found

    # --- what is made of them -----------------------------------------------------------------------------------------

    def made_by(self, name: str, first: Val | None, frame: Frame) -> Val | None:
        """The class or function that a library call instantiates or looks up, if its first argument names it; None for
        other calls, or if that is not known."""
        if first is None or len(first.atoms) != 1:
            return None
        (atom,) = first.atoms
        if isinstance(atom, Literal_) and name in ("hydra.utils.get_class", "hydra.utils.get_object"):
            return self._named(atom.value, frame)
        if not isinstance(atom, Namespace) or not is_node(atom) or not makes_configured(name):
            return None
        node = self._at(atom.path, _keys(atom))
        if not isinstance(node, Mapping) or node.get("_partial_") is True:
            return None
        return self._named(self._at(atom.path, (*_keys(atom), "_target_")), frame)

    def arguments(self, call: ir.Call, frame: Frame) -> Arguments | None:
        """The arguments that a call of `instantiate` passes to the object that it creates: those of the configuration,
        which are unknown if it is, and those in the code. None for other calls."""
        passed = self._passed(call, frame)
        if passed is None:
            return None
        given = replace(passed, keywords=tuple(pair for pair in passed.keywords if pair[0] not in _OF_HYDRA))
        found = self._known(call, frame)
        if found is None:
            return replace(given, more_positional=True, more_keywords=True, source="config")
        node, items = found
        pairs = [(key, value) for key, value in zip(items.keys, items.values, strict=True) if key is not None]
        configured = tuple((key, self._made_inside(value, frame)) for key, value in pairs if not key.startswith("_"))
        return Arguments((), configured, options=(node,)).before(given)

    def _passed(self, call: ir.Call, frame: Frame) -> Arguments | None:
        """What a call of `instantiate` passes beside the configuration; None for other calls."""
        func = frame.code.exprs[call.func]
        if not isinstance(func, ir.Attr | ir.Global | ir.Imported) or not call.args or call.args[0].kind != "pos":
            return None
        names = [atom.name for atom in self._ev.eval(call.func, frame).atoms if isinstance(atom, Lib)]
        return self._ev.calls.arguments(call, frame, skip=1) if any(map(passes_arguments, names)) else None

    def _known(self, call: ir.Call, frame: Frame) -> tuple[Namespace, MapOf] | None:
        """The part of a known configuration that is the first argument of a call, and its items."""
        nodes = self._ev.eval(call.args[0].value, frame).only(Namespace)
        found = self.as_map(nodes[0]) if len(nodes) == 1 else None
        return (nodes[0], found) if found is not None else None

    def instantiates(self, site: Site) -> bool:
        """Whether a known configuration names the class of the object that is created at a place."""
        call = self._ev.expr(site.frame, site.expr)
        if not isinstance(call, ir.Call) or self._passed(call, site.frame) is None:
            return False
        return self._known(call, site.frame) is not None

    def passes_on(self, site: Site) -> bool:
        """Whether the call at a place passes its other arguments to an object of the class that a configuration
        names."""
        call = self._ev.expr(site.frame, site.expr)
        return isinstance(call, ir.Call) and self._passed(call, site.frame) is not None

    def _made_inside(self, value: Val, frame: Frame) -> Val:
        """What a node inside an instantiated one becomes: an object of the class that it names, if it names one."""
        nodes = value.only(Namespace)
        if len(nodes) != 1:
            return value
        target = self._at(nodes[0].path, (*_keys(nodes[0]), "_target_"))
        if target is _MISSING:
            return value
        classes = self._named(target, frame)
        made = classes.only(ClassRef) if classes is not None else []
        return of(*(Instance(one, None) for one in made)) if made else unknown("config")

    def _named(self, target: object, frame: Frame) -> Val | None:
        """What a dotted name stands for."""
        module, _, name = target.rpartition(".") if isinstance(target, str) else ("", "", "")
        return self._ev.names.imported(frame.path, module, name, 0) if module and name else None


def is_node(atom: Namespace) -> bool:
    """Whether a namespace is a part of a configuration."""
    return atom.how.startswith(_NODE)


def _keys(node: Namespace) -> tuple[str, ...]:
    keys = node.how.removeprefix(_NODE)
    return tuple(keys.split(".")) if keys else ()


def _taken_in(entry: object, folder: Path, root: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The files that an entry of a `defaults` list includes, each with the keys for its content. Files of another root,
    and files whose name is chosen at run time, are ignored."""
    if isinstance(entry, str) and entry != "_self_":
        written, _, package = entry.partition("@")
        group, _, name = written.rpartition("/")
        yield from _in_group(group, name, package or None, folder, root)
    elif isinstance(entry, Mapping):
        for key, names in list(entry.items())[:_MAX_ITEMS]:
            group, _, package = str(key).removeprefix("optional ").partition("@")
            for name in (names if isinstance(names, list) else [names])[:_MAX_ITEMS]:
                yield from _in_group(group, name, package or None, folder, root)


def _in_group(
    group: str, name: object, package: str | None, folder: Path, root: Path
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    if not isinstance(name, str) or "${" in name or group.startswith("override "):
        return
    if group.startswith("/") and folder != root:
        return  # its place is not below the file that names it
    *inner, last = [part for part in f"{group.strip('/')}/{name}".split("/") if part]
    if package is None:
        at = tuple(inner)
    else:
        at = tuple(part for part in package.split(".") if part not in ("_global_", "_here_", "_group_"))
    yield folder.joinpath(*inner, f"{last.removesuffix('.yaml')}.yaml"), at


def _merged(first: Mapping[str, object], second: Mapping[str, object]) -> Mapping[str, object]:
    """Two configurations as one; the second one takes precedence."""
    both = dict(first)
    for key, value in second.items():
        before = both.get(key)
        both[key] = _merged(before, value) if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return both


def _path(ev: Evaluator, number: int, frame: Frame, depth: int = 0) -> str | None:
    """A path or a part of one that is written with `__file__`, `os.path` and `pathlib`; None for anything else."""
    if number == ir.NONE or depth > _MAX_PATH:
        return None
    inner = [_path(ev, part, frame, depth + 1) for part in _parts(ev, number, frame)]
    if any(part is None for part in inner):
        return None
    parts = [part for part in inner if part is not None]
    match frame.code.exprs[number]:
        case ir.Global("__file__"):
            return str(frame.path)
        case ir.Attr(_, "parent"):
            return os.path.dirname(parts[0])
        case ir.Attr(_, "stem"):
            return Path(parts[0]).stem
        case ir.Call() | ir.Bin() if parts:
            return os.path.dirname(parts[0]) if _is_dirname(ev, number, frame) else os.path.join(*parts)
    literal = ev.eval(number, frame).literal
    return literal.value if literal is not None and isinstance(literal.value, str) else None


def _parts(ev: Evaluator, number: int, frame: Frame) -> list[int]:
    """The expressions from which such a path is built."""
    match frame.code.exprs[number]:
        case ir.Attr(base, "parent" | "stem"):
            return [base]
        case ir.Bin("/", left, right):
            return [left, right]
        case ir.Call(func, args):
            called = frame.code.exprs[func]
            passed = [arg.value for arg in args if arg.kind == "pos"]
            if isinstance(called, ir.Attr) and called.name in ("joinpath", "resolve", "absolute"):
                return [called.base, *passed]
            names = {atom.name for atom in ev.eval(func, frame).atoms if isinstance(atom, Lib)}
            return passed if names & {*_SAME_PATH, "os.path.join", "os.path.dirname"} else []
    return []


def _is_dirname(ev: Evaluator, number: int, frame: Frame) -> bool:
    call = frame.code.exprs[number]
    return isinstance(call, ir.Call) and Lib("os.path.dirname") in ev.eval(call.func, frame).atoms
