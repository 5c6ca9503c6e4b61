"""Which part of a configuration file a value is: `yaml.safe_load(file)["loader"]["num_workers"]` is what is under
`loader`, `num_workers`. The keys are found from the expressions that made the value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from loaderlint.facts import ir
from loaderlint.knowledge.configuration_readers import COPYING_METHODS, ITEM_METHODS, KEEPS_ITEMS, PREFIXES, READERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import Atom, Lib, LibMember, LibObject, Literal_, Site, Val, of

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The ways to a value, and the keys that lead to it.
_MAX_WAYS = 4
_MAX_KEYS = 12


class Part(NamedTuple):
    """A part of what a call at `read` makes of a file: what is under some keys. `given`: what the code reads if the
    last of them is not there. `getter`: the function of the project that goes through the keys, for
    `get(config, "loader.num_workers", 4)`."""

    read: Site
    suffixes: tuple[str, ...]
    keys: tuple[str, ...]
    given: Val | None = None
    getter: Frame | None = None

    def at(self, key: str, given: Val | None = None) -> Part:
        """What is under a key of this part."""
        return self._replace(keys=(*self.keys, key), given=given, getter=None)


class FileParts:
    """The parts of configuration files in one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._parts: dict[Atom, tuple[Part, ...]] = {}

    def parts(self, atom: Atom) -> tuple[Part, ...]:
        """The parts of files that a value may be; none if it is not read from a file."""
        if not isinstance(atom, LibObject | LibMember) or not _base(atom).startswith(PREFIXES):
            return ()
        if atom not in self._parts:
            with provisional(self._parts, atom, ()):
                found = dict.fromkeys(one for one in self._find(atom) if len(one.keys) <= _MAX_KEYS)
                self._parts[atom] = tuple(found)[:_MAX_WAYS]
        return self._parts[atom]

    def _find(self, atom: LibObject | LibMember) -> Iterator[Part]:
        if isinstance(atom, LibMember):
            yield from (one.at(atom.name) for one in self.parts(atom.owner))
            return
        site = atom.site
        match self._ev.expr(site.frame, site.expr):
            case ir.Index(base, index):
                yield from self._items(base, index, None, site.frame)
            case ir.Call() as call:
                for callee in self._ev.eval(call.func, site.frame).only(Lib, LibMember):
                    yield from self._made(callee, call, site)

    def _made(self, callee: Lib | LibMember, call: ir.Call, site: Site) -> Iterator[Part]:
        """The parts of files that a call gives."""
        frame = site.frame
        name = callee.name if isinstance(callee, Lib) else f"{_base(callee.owner)}.{callee.name}"
        if name in READERS:
            yield Part(site, READERS[name], ())
        elif name in KEEPS_ITEMS:
            passed = [arg.value for arg in call.args if arg.kind in ("pos", "starstar")]
            yield from self.among(passed if name.endswith(".merge") else passed[:1], frame)
        elif isinstance(callee, LibMember) and callee.name in COPYING_METHODS and not call.args:
            yield from self.parts(callee.owner)
        elif isinstance(callee, LibMember) and callee.name in ITEM_METHODS and call.args:
            func = frame.code.exprs[call.func]
            given = self._ev.eval(call.args[1].value, frame) if len(call.args) > 1 else None
            if isinstance(func, ir.Attr):
                yield from self._items(func.base, call.args[0].value, given, frame)

    def among(self, numbers: Iterable[int], frame: Frame) -> Iterator[Part]:
        """The parts of files that some expressions may be."""
        for number in numbers:
            for atom in self._ev.eval(number, frame).ordered():
                yield from self.parts(atom)

    def _items(self, base: int, index: int, given: Val | None, frame: Frame) -> Iterator[Part]:
        """The items under the key that an expression gives."""
        key = self._ev.eval(index, frame).literal
        if key is not None and isinstance(key.value, str):
            yield from (one.at(key.value, given) for one in self.among([base], frame))
        elif dotted := self._dotted(index, frame):
            outside = [one for one in self._ev.eval(base, frame).ordered() if not _is_made_in(one, frame)]
            for part in (one for atom in outside for one in self.parts(atom)):
                yield part._replace(keys=(*part.keys, *dotted), given=self._given_to(frame), getter=frame)

    def _dotted(self, index: int, frame: Frame) -> tuple[str, ...]:
        """The keys through which `for key in "data.loader.workers".split("."):` goes; none for other expressions."""
        exprs = frame.code.exprs
        element = exprs[index]
        call = exprs[element.iterable] if isinstance(element, ir.Element) else None
        func = exprs[call.func] if isinstance(call, ir.Call) else None
        if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or func.name != "split" or not call.args:
            return ()
        text, dot = self._ev.eval(func.base, frame).literal, self._ev.eval(call.args[0].value, frame).literal
        if text is None or dot is None or not isinstance(text.value, str) or dot.value not in (".", "/"):
            return ()
        return tuple(text.value.split(str(dot.value)))

    def _given_to(self, frame: Frame) -> Val | None:
        """The number that a function gets, which it returns if an item is not there."""
        constants = [one for one in constants_of(self._ev, frame) if is_number(one.value)]
        return of(constants[0]) if len(constants) == 1 else None


def constants_of(ev: Evaluator, frame: Frame) -> list[Literal_]:
    """The constants among the arguments of a function."""
    params = range(len(frame.code.one.params) if frame.code.one is not None else 0)
    values = (ev.functions.argument(frame, index) for index in params)
    return [value.literal for value in values if value.literal is not None]


def values_under(key: str, document: object) -> Iterator[object]:
    """The values under a key of a configuration file, in whatever mapping they are."""
    waiting, seen = [document], set[int]()  # a YAML file may refer to a part of itself
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Mapping):
            yield from (one[key],) if key in one else ()
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def is_number(value: object) -> TypeGuard[int]:
    """Whether a constant is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _base(atom: Atom) -> str:
    """The name of the library object that an atom is an attribute of."""
    while isinstance(atom, LibMember):
        atom = atom.owner
    return atom.name if isinstance(atom, LibObject) else ""


def _is_made_in(atom: Atom, frame: Frame) -> bool:
    return isinstance(atom, LibObject) and atom.site.frame is frame
