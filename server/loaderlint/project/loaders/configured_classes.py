"""The configuration keys under which the project names a class, and the key from which a loader's dataset comes.

A loader whose dataset comes from `cfg.data.val` does not hold a dataset, or run a transform, that the known
configurations name for `data.train` only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import ClassRef, Instance, LibMember, LibObject, MapOf, SeqOf, Site, Val
from loaderlint.project.loaders.loaders import Loader
from loaderlint.project.modules.dependencies import holds
from loaderlint.project.modules.project_files import MODULE

_Keys = tuple[str, ...]

#: The key that names a class, as in `dict(type="Noise")`.
_NAMING = "type"


class ConfiguredClasses:
    """The classes that configurations in Python files name, for one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._named: dict[ClassRef, frozenset[_Keys]] = {}
        self._named_in: dict[Path, dict[str, set[_Keys]]] = {}

    def narrowed(self, loader: Loader) -> Loader:
        """The loader without those of its guessed datasets whose class is named for other loaders only."""
        guesses = tuple(one for one in loader.datasets if one in loader.guessed and isinstance(one, Instance))
        sites = tuple(one.site for one in guesses if one.site is not None)
        others = set(guesses).difference(self.among(loader, guesses, sites)) if guesses else ()
        if not others:
            return loader
        left = tuple(one for one in loader.datasets if one not in others)
        return replace(loader, datasets=left, guessed=loader.guessed.difference(others))

    def among(self, loader: Loader, objects: tuple[Instance, ...], made: tuple[Site, ...] = ()) -> tuple[Instance, ...]:
        """Those of the objects that the loader may run: not those whose class is named for other loaders only. `made`:
        further calls that create its dataset."""
        wanted = frozenset(self._keys_of(loader, made))
        return tuple(one for one in objects if not wanted or self._may_be_for(wanted, one.cls))

    def _keys_of(self, loader: Loader, made: tuple[Site, ...]) -> Iterator[_Keys]:
        """The keys of the arguments of the calls that create the loader's dataset, or look up its class: ('data',
        'val') for `build(cfg.data.val)`."""
        sites = (*loader.late_sites, *made)
        passed = [value for site in sites for value in site.frame.args if value is not None]
        for one in loader.argument("dataset").only(LibObject):
            passed += self._written(one.site)
        return (keys for value in passed for keys in map(_members, value.atoms) if keys)

    def _written(self, site: Site) -> Iterator[Val]:
        """The positional arguments in the code of a call."""
        call = self._ev.expr(site.frame, site.expr)
        for arg in call.args if isinstance(call, ir.Call) else ():
            if arg.kind == "pos":
                yield self._ev.eval(arg.value, site.frame)

    def _may_be_for(self, wanted: frozenset[_Keys], cls: ClassRef) -> bool:
        """Whether a class may be named under one of the keys. It may be if no other key names it either."""
        roots = {keys[0] for keys in wanted}
        named = [keys for keys in self._keys_naming(cls) if keys[0] in roots]
        return not named or any(_is_inside(one, other) for one in named for other in wanted)

    def _keys_naming(self, cls: ClassRef) -> frozenset[_Keys]:
        """The keys under which configurations name a class, the variable's name first."""
        if cls not in self._named:
            name = self._ev.classes.name(cls)
            paths = {path for quote in "\"'" for path in self._ev.files.containing(f"{quote}{name}{quote}")}
            self._named[cls] = frozenset(keys for path in paths for keys in self._in_file(path).get(name, ()))
        return self._named[cls]

    def _in_file(self, path: Path) -> dict[str, set[_Keys]]:
        """The classes that the module-level variables of a file name, each with the keys."""
        if path not in self._named_in:
            found = self._named_in[path] = {}
            for keys, name in self._names_in(path):
                found.setdefault(name, set()).add(keys)
        return self._named_in[path]

    def _names_in(self, path: Path) -> Iterator[tuple[_Keys, str]]:
        file = self._ev.file(path)
        for piece in file.all_asking(holds, "=", scope=MODULE) if file else ():
            one = file.pieces[piece] if file else None
            if one is None or one.kind != "statement" or one.parent >= 0:
                continue
            body = self._ev.body(path, piece)
            for _, step in body.code.steps_of(ir.Bind):
                if step.value != ir.NONE:
                    yield from _naming(self._ev.eval(step.value, body), (step.name,))


def _naming(value: Val, keys: _Keys) -> Iterator[tuple[_Keys, str]]:
    """The classes that the dicts in a value name, each with the keys that lead to its dict, behind these."""
    for atom in value.atoms:
        if isinstance(atom, SeqOf):
            for item in atom.items:
                yield from _naming(item, keys)
        elif isinstance(atom, MapOf):
            for key, item in zip(atom.keys, atom.values, strict=True):
                if key == _NAMING and item.literal is not None and isinstance(item.literal.value, str):
                    yield keys, item.literal.value
                yield from _naming(item, keys if key is None else (*keys, key))


def _members(atom: object) -> _Keys:
    """The attributes that lead from a library's object to a member: () for anything else."""
    names: list[str] = []
    while isinstance(atom, LibMember):
        names.append(atom.name)
        atom = atom.owner
    return tuple(reversed(names)) if isinstance(atom, LibObject) else ()


def _is_inside(one: _Keys, other: _Keys) -> bool:
    """Whether one key path is a prefix of the other."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]
