"""Calls: their arguments, their results, and the frames that they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.canonical_names import OPTIONAL_IMPORTERS
from loaderlint.knowledge.higher_order import RESTORING_METHODS, TEMPLATE_METHODS
from loaderlint.project.evaluation import containers, dynamic_dispatch, library_calls
from loaderlint.project.evaluation.argument_binding import FROM_FILE, NO_ARGUMENTS, Arguments, Unpacked, overlaid
from loaderlint.project.evaluation.asserted_values import value_asserted_at
from loaderlint.project.evaluation.failing_constructors import fails_on_none
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.items_at_use import passed_with_items, with_items_at
from loaderlint.project.evaluation.later_attributes import as_given
from loaderlint.project.evaluation.limits import MAX_NESTING
from loaderlint.project.evaluation.missing_attributes import shows_all_attributes
from loaderlint.project.evaluation.removed_items import removed_before, without_removed
from loaderlint.project.evaluation.unpacked_dicts import is_as_written
from loaderlint.project.evaluation.values import (
    ABSENT,
    BOTTOM,
    Atom,
    ClassRef,
    DefKey,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    Namespace,
    PartialOf,
    SeqOf,
    Site,
    SuperRef,
    Unknown,
    Val,
    def_key,
    is_none,
    join,
    maybe,
    of,
    present_or,
    unknown,
)
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


#: The argument that a library passes to a method that it calls for each sample: unknown, because it differs in each
#: call.
_OF_A_SAMPLE = Arguments((), (), True, True, "sample")
_MORE = unknown("kwargs")


class Calls:
    """Call questions of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator

    def arguments(self, call: ir.Call, frame: Frame, skip: int = 0) -> Arguments:
        """The arguments of a call, without the first `skip` positional ones."""
        if not call.args:
            return NO_ARGUMENTS
        positional: list[Val] = []
        keywords: list[tuple[str, Val]] = []
        options: list[Unpacked] = []
        source = ""
        more_positional = more_keywords = False
        for kind, name, number in call.args:
            value = self._ev.eval(number, frame)
            if kind in ("pos", "kw"):
                value = self._asserted(value, number, call, frame)
            if kind in ("pos", "kw") and value.has(MapOf):
                value = passed_with_items(self._ev, value, number, call, frame)
                value = without_removed(self._ev, value, number, call, frame)
            if kind == "pos":
                positional.append(value)
            elif kind == "kw":
                keywords.append((name, present_or(value, _MORE)))
            elif kind == "star":
                inner = [atom for atom in value.atoms if isinstance(atom, SeqOf)]
                if len(inner) == 1 and len(value.atoms) == 1:
                    positional.extend(inner[0].items)
                else:
                    more_positional = True
            else:
                value = with_items_at(self._ev, value, number, frame.code.performed_by(call), frame)
                maps = list(self._mappings(value))
                is_open = len(maps) < sum(not is_none(atom) for atom in value.atoms)
                removed = removed_before(self._ev, number, call, frame)
                for name, given in containers.either(maps):
                    left = removed.left(name, given)
                    if left is not None:
                        keywords.append((name, maybe(left) if is_open else left))
                options += value.only(Namespace)
                options += [one for found in maps for one in found.options]
                if is_open or any(None in one.keys for one in maps):
                    more_keywords = True
                    read = self._read_from_files(value)
                    options += read or ()
                    source = (source or FROM_FILE) if read is not None else "kwargs"
        passed = overlaid(keywords)
        if more_keywords:  # what is not known may pass what the others do not
            passed = {name: present_or(value, _MORE) for name, value in passed.items()}
        return Arguments(
            tuple(positional[skip:]),
            tuple(passed.items()),
            more_positional,
            more_keywords,
            source if source and not more_positional else "kwargs",
            tuple(options),
        )

    def _asserted(self, value: Val, number: ir.ExprId, call: ir.Call, frame: Frame) -> Val:
        """What a variable that a call passes may be, by a test around the call: `if kind in ("a", "b"): load(kind)`."""
        if not isinstance(frame.code.exprs[number], ir.Param | ir.Attr):
            return value
        literal = value.literal
        if literal is not None and not literal.configured:
            return value
        is_dead = partial(self._ev.liveness.is_dead, frame=frame)
        return value_asserted_at(number, frame.code.performed_by(call), frame, is_dead) or value

    def _read_from_files(self, value: Val) -> list[Unpacked] | None:
        """The parts of configuration files that `**value` unpacks; None if it may unpack anything else that is not
        known."""
        found: list[Unpacked] = []
        for atom in value.ordered():
            if isinstance(atom, LibObject | LibMember) and self._ev.file_values.parts(atom):
                found.append(atom)
            elif isinstance(atom, MapOf):
                more = [one for key, one in zip(atom.keys, atom.values, strict=True) if key is None]
                if any(one != unknown(FROM_FILE) for one in more):
                    return None
            elif not is_none(atom):
                return None
        return found

    def with_options(self, arguments: Arguments, names: Iterable[str]) -> Arguments:
        """Arguments with those of some keywords that `**vars(args)` passes and whose defaults are known, and those that
        `**config` passes and that files give."""
        if not arguments.options:
            return arguments
        missing = [name for name in names if all(name != keyword for keyword, _ in arguments.keywords)]
        found = [(name, value) for name in missing for value in self._unpacked(arguments, name)]
        return replace(arguments, keywords=arguments.keywords + tuple(found))

    def _unpacked(self, arguments: Arguments, name: str) -> Iterator[Val]:
        """What the options of arguments pass for a keyword, if that is known."""
        yield from self._ev.user_options.among(arguments.options, name)
        if arguments.source == FROM_FILE and len(arguments.options) == 1:
            yield from self._ev.file_values.attribute(arguments.options[0], name)

    def _mappings(self, value: Val) -> Iterator[MapOf]:
        """The dicts that `**value` unpacks, as far as they are known."""
        for atom in value.only(MapOf, Namespace):
            found = self._ev.yaml.as_map(atom) if isinstance(atom, Namespace) else atom
            if isinstance(found, MapOf):
                yield found

    def refused(self, call: ir.Call, callee: Val, arguments: Arguments, frame: Frame) -> set[DefKey]:
        """The functions and methods that `callee` may be and that do not accept the arguments: the call raises
        TypeError, and nothing in them runs. Of `*x` and `**x` only what is certain counts; and no decorator may change
        what is accepted."""
        if any(arg.kind.startswith("star") for arg in call.args) and not self._are_certain(call, arguments, frame):
            arguments = _form(call)
        found: set[DefKey] = set()
        for atom in callee.only(FunctionRef, Method):
            function, receiver = (atom.function, atom.receiver) if isinstance(atom, Method) else (atom, None)
            if self._name(function) != "__init__" and self._refuses(function, arguments, receiver is not None):
                found.add(def_key(function))
        return found

    def _are_certain(self, call: ir.Call, arguments: Arguments, frame: Frame) -> bool:
        """Whether the arguments of a call with `**x` are known to the last one."""
        if arguments.more_positional or arguments.more_keywords or arguments.options:
            return False
        if any(ABSENT in value.atoms for _, value in arguments.keywords):
            return False
        stars = [arg for arg in call.args if arg.kind.startswith("star")]
        return all(arg.kind == "starstar" and is_as_written(self._ev, arg.value, frame) for arg in stars)

    def passed_to(self, frame: Frame, index: int) -> Site | None:
        """The expression that the call which creates an object passes to a parameter of its constructor, whose frame
        this is; None if the call does not name it, or for any other frame."""
        one, made = frame.code.one, frame.receiver
        if one is None or not isinstance(made, Instance) or made.site is None or not 0 < index < len(one.params):
            return None
        call = self._ev.expr(made.site.frame, made.site.expr)
        if not isinstance(call, ir.Call) or self._ev.classes.init_frame(made) is not frame:
            return None  # a base class has its own arguments
        name = one.params[index].name
        named = [arg.value for arg in call.args if arg.kind == "kw" and arg.name == name]
        before = call.args[:index]  # without self
        if not named and len(before) == index and all(arg.kind == "pos" for arg in before):
            named = [before[-1].value]
        return Site(made.site.frame, named[0]) if named else None

    def is_refused(self, made: Instance) -> bool:
        """Whether the call that creates an object raises TypeError (see `refuses` and `fails_on_none`)."""
        call = self._ev.expr(made.site.frame, made.site.expr) if made.site is not None else None
        if made.site is None or not isinstance(call, ir.Call):
            return False
        if not self.refuses(made.cls, call) and not fails_on_none(self._ev, made):
            return False
        return made.cls in self._ev.eval(call.func, made.site.frame).atoms

    def refuses(self, callee: FunctionRef | ClassRef, call: ir.Call) -> bool:
        """Whether a function, or the constructor of a class, does not accept the arguments of a call, which raises
        TypeError, whatever `*x` and `**x` pass. Only where it alone decides what is accepted."""
        if isinstance(callee, FunctionRef):
            return self._refuses(callee, _form(call), False)
        init = self._ev.classes.member(callee, "__init__")
        if init is None:
            return self._refuses_fields(callee, call)
        if init.function is None or not self._refuses(init.function, _form(call), True):
            return False
        return self._ev.classes.leaves_arguments_to_init(callee)

    def _refuses_fields(self, cls: ClassRef, call: ir.Call) -> bool:
        """Whether a call of a plain dataclass names what is no field."""
        head = self._ev.classes.head(cls)
        if head is None or not head.decorators or not shows_all_attributes(self._ev, cls):
            return False
        named = {arg.name for arg in call.args if arg.kind == "kw"}
        return not named.issubset(self._ev.classes.fields(cls))

    def _refuses(self, function: FunctionRef, arguments: Arguments, receiver: bool) -> bool:
        """Whether a def does not accept the arguments, and no decorator may change what it accepts."""
        facts = self._ev.facts(function.path, function.piece)
        if facts is None or arguments.fit(facts.ir.defs[function.def_].params, receiver):
            return False
        return not self._ev.functions.may_accept_others(function)

    def _name(self, function: FunctionRef) -> str:
        facts = self._ev.facts(function.path, function.piece)
        return facts.ir.defs[function.def_].name if facts is not None else ""

    def is_guessed(self, frame: Frame) -> bool:
        """Whether a frame runs on an object whose class was found by a computed name."""
        return isinstance(frame.receiver, Instance) and self.is_chosen(frame.receiver)

    def is_chosen(self, made: Instance) -> bool:
        """Whether the class of an object was found by a computed name, and is not the default."""
        site = made.site
        if site is None or site.expr not in site.frame.guesses:
            return False
        return (site.expr, made.cls) not in site.frame.usual

    def is_guess(self, frame: Frame, target: Frame) -> bool:
        """Whether `frame` leads to `target` only through computed names: `getattr(self, name)(...)`, or the method of
        an object whose class was found that way."""
        if self.is_guessed(target):
            return True
        ways = [number for number, targets in frame.targets.items() if target in targets]
        if not ways or not frame.guesses.issuperset(ways):
            return False
        return not any(number in ways and runs(callee, target) for number, callee in frame.usual)

    def call(
        self, callee: Val, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
    ) -> tuple[Val, tuple[Frame, ...]]:
        """The result of calling `callee` at expression `number` of `frame`, and the frames that run for it."""
        if len(callee.atoms) == 1:
            (atom,) = callee.atoms
            if seen and atom in seen:
                return unknown("call"), ()
            if type(atom) is Lib and library_calls.is_opaque(atom.name):  # most calls
                return library_calls.call(self._ev, atom.name, callee, arguments, frame, number, seen)
            value, more = self._call_atom(atom, callee, arguments, frame, number, {**seen, atom: True})
            return join((value,)), tuple(dict.fromkeys(more)) if len(more) > 1 else more
        parts: list[Val] = []
        targets: list[Frame] = []
        for atom in callee.ordered():
            if atom in seen:
                continue
            value, more = self._call_atom(atom, callee, arguments, frame, number, {**seen, atom: True})
            parts.append(value)
            targets.extend(more)
        return (join(parts) if parts else unknown("call")), tuple(dict.fromkeys(targets))

    def _call_atom(
        self, atom: Atom, callee: Val, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
    ) -> tuple[Val, tuple[Frame, ...]]:
        match atom:
            case FunctionRef():
                value, targets = self._call_function(atom, arguments, frame)
                return as_given(self._ev, value, frame, number), targets
            case Method(function, receiver, owner):
                value, targets = self._ev.functions.invoke(function, receiver, owner, arguments, frame)
                return as_given(self._ev, value, frame, number), targets
            case ClassRef():
                made = Instance(atom, Site(frame, number) if frame.nesting < MAX_NESTING else None)
                init = self._ev.classes.init_frame(made)
                return of(made), (init,) if init else ()
            case Instance():
                for name in ("__call__", "forward"):
                    if self._ev.classes.member(atom.cls, name) is not None:
                        method = self._ev.attribute(of(atom), name, frame, None)
                        return self.call(method, arguments, frame, number, seen)
                return unknown("library call"), self._template_frames(atom, frame, number, seen)
            case PartialOf(func, site):
                bound = self._partial_arguments(site)
                return self.call(of(func), bound.before(arguments), frame, number, seen)
            case Lib(name):
                return library_calls.call(self._ev, name, callee, arguments, frame, number, seen)
            case LibMember(ClassRef() as cls, name) if name in RESTORING_METHODS:
                return of(Instance(cls, None)), ()
            case LibObject() | LibMember():
                return library_calls.call_object(self._ev, atom, callee, arguments, frame, number, seen)
            case Unknown():
                return of(dynamic_dispatch.made_late(self._ev, atom, Site(frame, number))), ()
            case SuperRef() | ModuleRef() | FolderRef() | Literal_() | SeqOf() | MapOf() | Namespace():
                return unknown("not callable"), ()
        raise AssertionError(atom)

    def _template_frames(self, inst: Instance, frame: Frame, number: int, seen: dict[Atom, bool]) -> tuple[Frame, ...]:
        """The methods of an object that the `__call__` of its library base class calls, with the library's
        arguments."""
        found: list[Frame] = []
        for base in self._ev.classes.library_bases(inst.cls):
            for name in next((names for start, names in TEMPLATE_METHODS.items() if base.startswith(start)), ()):
                if self._ev.classes.member(inst.cls, name) is not None:
                    method = self._ev.attribute(of(inst), name, frame, None)
                    _, frames = self.call(method, _OF_A_SAMPLE, frame, number, seen)
                    found.extend(frames)
        return tuple(dict.fromkeys(found))

    def _call_function(
        self, function: FunctionRef, arguments: Arguments, frame: Frame
    ) -> tuple[Val, tuple[Frame, ...]]:
        """Call a function by its own name. `Base.method(self, ...)` runs on the object that is passed first."""
        facts = self._ev.facts(function.path, function.piece)
        if facts is not None and facts.ir.defs[function.def_].name in OPTIONAL_IMPORTERS:
            return library_calls.optional_import(arguments), ()
        file = self._ev.file(function.path)
        parent = self._ev.names.class_around(file, function.piece) if file and function.def_ == 1 else None
        first = arguments.positional[0].only(Instance) if parent is not None and arguments.positional else []
        if len(first) != 1 or parent is None or self._ev.functions.decoration(function) == "static":
            return self._ev.functions.invoke(function, None, None, arguments, frame)
        owner = ClassRef(function.path, parent, 1)
        rest = replace(arguments, positional=arguments.positional[1:])
        return self._ev.functions.invoke(function, first[0], owner, rest, frame)

    def _partial_arguments(self, site: Site) -> Arguments:
        call = self._ev.expr(site.frame, site.expr)
        return self.arguments(call, site.frame, skip=1) if isinstance(call, ir.Call) else Arguments()

    def site_arguments(self, site: Site) -> Arguments:
        """The arguments of the call at `site` (the constructor's, for an instance)."""
        call = self._ev.expr(site.frame, site.expr)
        if not isinstance(call, ir.Call):
            return Arguments(more_keywords=True)
        passed = self._ev.yaml.arguments(call, site.frame) or self.arguments(call, site.frame)
        # what a function creates is created inside it
        makers = [one for one in self._ev.eval(call.func, site.frame).atoms if not isinstance(_bare(one), FunctionRef)]
        if not any(isinstance(one, PartialOf) for one in makers):
            return passed
        if len(makers) > 1:  # each with arguments of its own
            return Arguments((), passed.keywords, True, True)
        (maker,) = makers
        while isinstance(maker, PartialOf):
            passed = self._partial_arguments(maker.site).before(passed)
            maker = maker.func
        return passed


def _bare(callee: Atom) -> Atom:
    """What a partial calls; anything else as it is."""
    while isinstance(callee, PartialOf):
        callee = callee.func
    return callee


def _form(call: ir.Call) -> Arguments:
    """The arguments of a call that are written out, with values that are not looked at."""
    kinds = {arg.kind for arg in call.args}
    positional = tuple(BOTTOM for arg in call.args if arg.kind == "pos")
    keywords = tuple((arg.name, BOTTOM) for arg in call.args if arg.kind == "kw")
    return Arguments(positional, keywords, "star" in kinds, "starstar" in kinds)


def runs(callee: Atom, frame: Frame) -> bool:
    """Whether calling a function or method of the project runs a frame."""
    function = callee.function if isinstance(callee, Method) else callee
    place = def_key(frame)
    return isinstance(function, FunctionRef) and def_key(function) == place
