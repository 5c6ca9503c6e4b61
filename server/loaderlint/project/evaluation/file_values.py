"""What programs read from configuration files: `yaml.safe_load(open(path))["loader"]["num_workers"]`.

Values are looked up that reach the arguments of a loader, and those in the tests around a line, to know whether it runs
by default. No class depends on them. A file is a run of the program: it counts like the default of an option. If the
path is known only at run time, any file of the project of that kind may be meant that has all the keys, and those that
the code beside the call reads in any case; those nearest to the code count."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.file_parts import FileParts, Part, constants_of, is_number
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.needed_keys import needed_keys
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import (
    NONE_VALUE,
    Atom,
    LibObject,
    Literal_,
    Namespace,
    Unknown,
    Val,
    by_default,
    join,
    member_of,
    of,
    unknown,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The files that are read for a key.
_MAX_FILES = 64
#: Code with one of these may replace values of a file by options of the same name.
_TAKES_OPTIONS = ("update(vars(", ".update(args.__dict__")
_MISSING = object()
#: What is read from an empty dict or list, which stands for an empty file.
_OF_EMPTY = frozenset({"empty", "empty mapping", "no such key"})


class FileValues:
    """The values of configuration files in one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._of = FileParts(evaluator)
        self._values: dict[Part, tuple[tuple[Path, object], ...]] = {}
        self._numbers: dict[Atom, Val | None] = {}
        self._stored: dict[tuple[str, ...], Val | None] = {}

    def parts(self, atom: Atom) -> tuple[Part, ...]:
        """The parts of files that a value may be; none if it is not read from a file."""
        return self._of.parts(atom)

    # --- what is there ------------------------------------------------------------------------------------------------

    def resolved(self, value: Val, look_up: Callable[[Atom], Val | None] | None = None) -> Val:
        """A value with what is read from files as numbers, by `number` or another method. Beside them, it is neither
        the mapping that holds them, nor what is read where a file has no such item."""
        read = {atom: (look_up or self.number)(atom) for atom in value.ordered() if self.parts(atom)}
        known = [one for one in read.values() if one is not None]
        if not known:
            return value
        gone = {atom for atom in read if read[atom] is not None or not any(map(self._may_be_plain, self.parts(atom)))}
        getters = [one.getter for atom in read for one in self.parts(atom) if one.getter is not None and self._at(one)]
        gone |= {one for getter in getters for one in (*NONE_VALUE.atoms, *constants_of(self._ev, getter))}
        gone |= {atom for atom in value.atoms if isinstance(atom, Unknown) and atom.reason in _OF_EMPTY}
        return join((*known, of(*(value.atoms - gone))))

    def _may_be_plain(self, part: Part) -> bool:
        """Whether a part may be anything but a mapping."""
        return bool(part.keys) and not self.is_mapping(part)

    def number(self, atom: Atom) -> Val | None:
        """What a part of a file is as a number that a run of the program has: the greatest of the files, with what code
        may store there instead. None if it is no part of a file, or not known."""
        if atom not in self._numbers:
            with provisional(self._numbers, atom, None):
                self._numbers[atom] = self._number(self.parts(atom))
        return self._numbers[atom]

    def _number(self, parts: tuple[Part, ...]) -> Val | None:
        found = [pair for part in parts for pair in self._at(part)]
        numbers = [(path, value) for path, value in found if is_number(value)]
        given = [part.given for part in parts if part.given is not None]
        if numbers:
            path, value = max(reversed(numbers), key=lambda pair: pair[1])
            known = self._literal(path, value)
        elif not found and len(given) == len(parts) > 0:
            known = by_default(join(given), "configuration default")
        else:
            return None
        stored = list(self._always_stored(parts[0]))
        return join((known, *stored)) if stored else known

    def agreed(self, atom: Atom) -> Val | None:
        """What `in_all_files` gives; where no file has the part, what the code reads then."""
        parts = self.parts(atom)
        given = [part.given for part in parts if part.given is not None]
        if not parts or any(map(self._at, parts)) or self._stores(parts[0]) is not None:
            return self.in_all_files(atom)
        return by_default(join(given), "configuration default") if len(given) == len(parts) else None

    def in_all_files(self, atom: Atom) -> Val | None:
        """The number, truth value, text or null that all files have in a part; None if they differ, if none has it, or
        if code may store another one there."""
        parts = self.parts(atom)
        found = [pair for part in parts for pair in self._at(part)]
        if not found or self._stores(parts[0]) is not None:
            return None
        plain = [(path, value) for path, value in found if isinstance(value, bool | int | float | str | None)]
        if len(plain) < len(found) or len({(type(value), value) for _, value in plain}) > 1:
            return None
        return self._literal(*plain[-1])

    def attribute(self, atom: Atom, name: str) -> Iterator[Val]:
        """What an object has as attribute `name` that takes its attributes from the items of a part of a file, if some
        file has a number or truth value there."""
        if any(
            isinstance(value, bool | int | float | Mapping)
            for one in self.parts(atom)
            for _, value in self._at(one.at(name))
        ):
            yield member_of(atom, name)

    def is_mapping(self, part: Part) -> bool:
        """Whether some file has a mapping in a part."""
        return any(isinstance(value, Mapping) for _, value in self._at(part))

    def names(self, part: Part, key: str) -> bool:
        """Whether some file has a key in a part, or code may store something under it."""
        inner = part.at(key)
        return bool(self._at(inner)) or self._stores(inner) is not None

    def _literal(self, path: Path, value: float | str | None) -> Val:
        shown = path.relative_to(self._ev.files.root).as_posix()
        return of(Literal_(type(value).__name__, value, shown))

    def _at(self, part: Part) -> tuple[tuple[Path, object], ...]:
        """The values of a part, each with its file: of the file that the call names, otherwise of those nearest to the
        call that have one."""
        if not part.keys:
            return ()
        key = part._replace(given=None, getter=None)
        if key not in self._values:
            self._values[key] = tuple(self._in_files(part))
        return self._values[key]

    def _in_files(self, part: Part) -> list[tuple[Path, object]]:
        named = self._named_file(part)
        if named is not None:
            return _with_keys([named], part.keys, self._ev)
        paths = [one for one in self._ev.files.configurations(part.keys[-1]) if one.suffix in part.suffixes]
        needed = needed_keys(part.read.expr, part.read.frame.code)
        return self._nearest([one for one in paths if self._has_keys(one, needed)], part) or self._nearest(paths, part)

    def _has_keys(self, path: Path, keys: Set[str]) -> bool:
        found = self._ev.files.configuration(path) if keys else None
        return not keys or (isinstance(found, Mapping) and keys <= found.keys())

    def _nearest(self, paths: list[Path], part: Part) -> list[tuple[Path, object]]:
        """The values of a part in those of some files that are nearest to the call and have one."""
        folder = part.read.frame.path.parent
        while folder.is_relative_to(self._ev.files.root):
            inside = [one for one in paths if one.is_relative_to(folder)]
            found = _with_keys(inside[:_MAX_FILES], part.keys, self._ev)
            if found or len(inside) >= _MAX_FILES:
                return found
            folder = folder.parent
        return []

    # --- the path -----------------------------------------------------------------------------------------------------

    def _named_file(self, part: Part) -> Path | None:
        """The file that a call reads, if the code or the default of an option names it, and it is there."""
        call = self._ev.expr(part.read.frame, part.read.expr)
        if not isinstance(call, ir.Call) or not call.args:
            return None
        texts = self._paths(call.args[0].value, part.read.frame, 0)
        folder, root = part.read.frame.path.parent, self._ev.files.root
        for text in texts:
            around = [folder, *folder.parents] if not os.path.isabs(text) else [folder]
            for one in around:
                path = Path(os.path.normpath(one / text))
                if not one.is_relative_to(root) or not path.is_relative_to(root):
                    break
                if isinstance(self._ev.files.configuration(path), Mapping):
                    return path
        return None

    def _paths(self, number: int, frame: Frame, depth: int) -> list[str]:
        """The path of the file from which an expression is read: a path, an open file, or its text."""
        texts = [one.value for one in self._ev.eval(number, frame).only(Literal_) if isinstance(one.value, str)]
        written = self._ev.yaml.written_path(number, frame)
        if texts or written is not None or depth > 4:
            return texts or [written or ""]
        found: list[str] = []
        for atom in self._ev.eval(number, frame).only(LibObject):
            e = self._ev.expr(atom.site.frame, atom.site.expr)
            func = self._ev.expr(atom.site.frame, e.func) if isinstance(e, ir.Call) else None
            if isinstance(e, ir.Call) and isinstance(func, ir.Attr) and func.name in ("read", "read_text", "open"):
                found += self._paths(func.base, atom.site.frame, depth + 1)
            elif isinstance(e, ir.Call) and e.args and atom.name in ("builtins.open", "io.open", "pathlib.Path"):
                found += self._paths(e.args[0].value, atom.site.frame, depth + 1)
        return found

    # --- what code stores there ---------------------------------------------------------------------------------------

    def _always_stored(self, part: Part) -> Iterator[Val]:
        """What code stores under the last key of a part whenever it runs, so that no run may have the file's value: not
        in a branch, nor in a helper that may not be called."""
        for path, piece in self._storing(part.keys[-1]):
            for step, frame in self._stores_in(path, piece, part):
                is_part = any(self.parts(one) for one in self._ev.eval(step.base, frame).atoms)
                if step.context == 0 and is_part:
                    yield self._ev.eval(step.value, frame)
        yield from self._as_options(part)

    def _stores(self, part: Part) -> Val | None:
        """What code may store under the last key of a part: `config["num_workers"] = 0`. None if no code does, and for
        a whole file."""
        if not part.keys:
            return None
        if part.keys not in self._stored:
            with provisional(self._stored, part.keys, None):
                found = list(self._stored_values(part))
                self._stored[part.keys] = join(found) if found else None
        return self._stored[part.keys]

    def _stored_values(self, part: Part) -> Iterator[Val]:
        for path, piece in self._storing(part.keys[-1]):
            yield from (self._ev.eval(step.value, frame) for step, frame in self._stores_in(path, piece, part))
            yield from self._updated_in(path, piece, part)
        yield from self._as_options(part)

    def _storing(self, key: str) -> Iterator[tuple[Path, int]]:
        """The pieces that may store something under a key."""
        texts = (f'["{key}"] = ', f"['{key}'] = ", f".{key} = ", f"update({key}=", f", {key}=")
        for path in self._ev.files.containing(key):
            file = self._ev.file(path)
            for piece in file.mentioning(key) if file else ():
                if file is not None and any(file.pieces[piece].holds(text) for text in texts):
                    yield path, piece

    def _as_options(self, part: Part) -> Iterator[Val]:
        """The option of the same name as the last key, if code stores its options in such mappings."""
        key = part.keys[-1]
        if any(self._ev.files.containing(word) for word in _TAKES_OPTIONS):
            option = self._ev.user_options.attribute(Namespace(part.read.frame.path, "argparse"), key)
            if option != unknown("config"):
                yield option

    def _stores_in(self, path: Path, piece: int, part: Part) -> Iterator[tuple[ir.SetItem | ir.SetAttr, Frame]]:
        """The steps of a piece that store another value under the last key of a part, each with its frame."""
        for frame in self._ev.user_options.frames_of(path, piece):
            for step in frame.code.one.steps if frame.code.one else ():
                if isinstance(step, ir.SetItem | ir.SetAttr) and self._is_under(step, part, frame):
                    if not self._is_itself(self._ev.eval(step.value, frame), part):
                        yield step, frame

    def _is_under(self, step: ir.SetItem | ir.SetAttr, part: Part, frame: Frame) -> bool:
        """Whether a step stores under the last key of a part, or of something unknown."""
        if isinstance(step, ir.SetAttr):
            name: object = step.name
        else:
            key = self._ev.expr(frame, step.index)
            name = key.value if isinstance(key, ir.Const) else None
        if name != part.keys[-1]:
            return False
        atoms = self._ev.eval(step.base, frame).atoms
        if isinstance(step, ir.SetItem) and any(isinstance(one, Unknown) for one in atoms):
            return True
        return any(found.keys == part.keys[:-1] for one in atoms for found in self.parts(one))

    def _is_itself(self, value: Val, part: Part) -> bool:
        """Whether a value is the part, perhaps as another type: `config["workers"] = int(config["workers"])`."""
        for atom in value.atoms:
            call = self._ev.expr(atom.site.frame, atom.site.expr) if isinstance(atom, LibObject) else None
            if isinstance(call, ir.Call) and isinstance(atom, LibObject) and atom.name.startswith("builtins."):
                inner = list(self._of.among([arg.value for arg in call.args[:1]], atom.site.frame))
            else:
                inner = list(self.parts(atom))
            if not any(one.keys == part.keys for one in inner):
                return False
        return bool(value.atoms)

    def _updated_in(self, path: Path, piece: int, part: Part) -> Iterator[Val]:
        """What `config.update(num_workers=0)` stores."""
        for frame in self._ev.user_options.frames_of(path, piece):
            for _, call in frame.code.calls:
                func = self._ev.expr(frame, call.func)
                if isinstance(func, ir.Attr) and func.name == "update":
                    yield from (self._ev.eval(arg.value, frame) for arg in call.args if arg.name == part.keys[-1])


def _with_keys(paths: Iterable[Path], keys: tuple[str, ...], ev: Evaluator) -> list[tuple[Path, object]]:
    """The values under some keys of files, each with its file. What is only in a list is not there."""
    found = []
    for path in paths:
        value = ev.files.configuration(path)
        for key in keys:
            value = value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING
        if value is not _MISSING:
            found.append((path, value))
    return found
