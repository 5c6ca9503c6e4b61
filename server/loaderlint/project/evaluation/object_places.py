"""Where code has a name for an object: the def that makes it, functions and methods that get it, module-level code, and
what reads it from a dict, a list or another object that holds it (see `contained_objects`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.knowledge.library_datasets import SAMPLE_CALLABLES
from loaderlint.project.evaluation import containers
from loaderlint.project.evaluation.contained_objects import (
    ANY_ITEM,
    LONGEST,
    SELF,
    Holder,
    Step,
    attribute,
    holders,
    objects_in,
)
from loaderlint.project.evaluation.containers import Passing
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import MAX_NESTING
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Instance, Lib, Site, def_key
from loaderlint.project.modules.dependencies import holds, needs_word
from loaderlint.project.modules.project_files import MODULE, ProjectFile

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: What binds a name to the value that follows.
_BINDING = re.compile(r"[\w\])][ \t]*=(?!=)|\bfor\b")
_DEEP_COPY = Lib("copy.deepcopy")
_DATASET = attribute("dataset")
#: Where more objects than this create one another, the lists and dicts that the innermost one keeps are not searched.
_NESTING = 1
#: The maximum number of names of a module under which an object is searched for.
_NAMES = 20


class Place(Struct, frozen=True):
    """Some code in which an object has a name: a frame, and the expressions there that are the object. `others`: those
    that may be it, or another one: items of dicts and lists, and what a branch has chosen."""

    frame: Frame
    objects: frozenset[int]
    others: frozenset[int] = frozenset()

    def may_be(self, number: int) -> bool:
        """Whether an expression may be the object."""
        return number in self.objects or number in self.others


def places_of(ev: Evaluator, made: Site, word: str) -> Iterator[Place]:
    """The code that has a name for the object made at a place: the def that creates it, functions that get it and whose
    text holds `word`, and, if a module gives it a name, other module-level code."""
    return places(ev, made, "", holds, word, uses=holds)


def places(
    ev: Evaluator,
    made: Site,
    word: str,
    question: Callable[..., object],
    *about: Any,
    uses: Callable[..., object] = containers.puts_into,
) -> Iterator[Place]:
    """The code that has a name for the object made at a place: methods whose text contains `word` after the name,
    functions that answer `question(text, *about)`, and module-level code that answers `uses(text, name)`."""
    frame, number = made.frame, made.expr
    held = holders_in(ev, frame, number)
    sure = frozenset((number, *_datasets_of_holders(ev, frame, number), *_reads_of(frame, _kept_as(frame, number))))
    yield Place(frame, sure, objects_in(held) - sure)
    yield from further_down(ev, frame, number, uses)
    yield from _in_methods(ev, frame, held, word, question, *about)
    yield from _outside(ev, frame, held)
    for opened, known in (
        *_passed_on(ev, frame, held, question, *about),
        *_passed_further_down(ev, frame, number, question, *about),
    ):
        objects = objects_in(holders(opened.code, [known]))
        yield Place(opened, objects) if not known.path else Place(opened, frozenset(), objects)


def _passed_on(
    ev: Evaluator, frame: Frame, held: Sequence[Holder], question: Callable[..., object], *about: Any
) -> Iterator[tuple[Frame, Holder]]:
    """The functions, whose text answers a question, that a def passes what holds an object, and the methods of the
    objects of the project that keep it; each with what holds it there."""
    for one in held:
        for passing in given_to(ev, frame, one.number) if one.number >= 0 else ():
            file = ev.file(passing.function.path)
            if file is not None and file.pieces[passing.function.piece].ask(question, *about):
                for opened, place in containers.as_parameter(ev, passing, one.number):
                    yield opened, Holder(place, one.path)
        call = frame.code.exprs[one.number] if one.number >= 0 and one.path else None
        for cls in _classes_called(ev, call, frame) if isinstance(call, ir.Call) else ():
            keeper = Instance(cls, Site(frame, one.number))
            for member in ev.classes.methods_asked(cls, question, *about):
                if member.function is not None:
                    opened_method = ev.functions.open_frame(member.function, keeper, member.owner)
                    if opened_method is not None:
                        yield opened_method, Holder(SELF, one.path)


def _passed_further_down(
    ev: Evaluator, frame: Frame, number: int, question: Callable[..., object], *about: Any
) -> Iterator[tuple[Frame, Holder]]:
    """As `_passed_on`, of the calls of other module-level code that pass what a module gives a name."""
    if number not in frame.passing:
        frame.passing[number] = tuple(_passing_further_down(ev, frame, number))
    for body, known in frame.passing[number]:
        yield from _passed_on(ev, body, known, question, *about)


def _passing_further_down(ev: Evaluator, frame: Frame, number: int) -> Iterator[tuple[Frame, tuple[Holder, ...]]]:
    """The other module-level code with calls that pass what a module gives a name, and what holds the object there."""
    file = module_of(ev, frame)
    for name, paths in names_in_module(ev, frame, number).items() if file is not None else ():
        assert file is not None
        for piece in file.all_asking(_is_passed, name, scope=MODULE):
            body = ev.body(frame.path, piece)
            known = [Holder(one, path) for one in _uses_of(body, name) for path in paths]
            if any(body.code.calls_with(one.number) for one in holders(body.code, known)):
                yield body, tuple(sorted(_with_calls(ev, body, known), key=str))


def _outside(ev: Evaluator, frame: Frame, held: Sequence[Holder]) -> Iterator[Place]:
    """The code that has a name for the object whose method keeps another one: `data = Data()`, and then
    `data.train.transform = Crop()`."""
    owner = frame.receiver.site if isinstance(frame.receiver, Instance) else None
    if owner is None or (isinstance(owner.frame.receiver, Instance) and owner.frame.receiver.site is not None):
        return
    for path in dict.fromkeys(one.path for one in held if one.number == SELF and one.path):
        word = f".{path[0].key}"
        for place in places(ev, owner, word, holds, word, uses=reaches_into):
            known = (Holder(one, path) for one in place.objects | place.others)
            objects = objects_in(holders(place.frame.code, known))
            if objects:
                yield Place(place.frame, frozenset(), objects)


def holders_in(ev: Evaluator, frame: Frame, number: int) -> tuple[Holder, ...]:
    """The expressions of a def that are, or hold, what expression `number` makes."""
    if number not in frame.holders:
        known = [Holder(number), *(Holder(read) for read in _datasets_of_holders(ev, frame, number))]
        frame.holders[number] = tuple(sorted(_with_calls(ev, frame, known), key=str))
    return frame.holders[number]


def _with_calls(ev: Evaluator, frame: Frame, known: Iterable[Holder]) -> frozenset[Holder]:
    """What holds what `known` holds, the calls included that make an object of it."""
    found = holders(frame.code, known)
    while new := {more for one in found for more in _calls_holding(ev, frame, one)} - found:
        found = holders(frame.code, (*found, *new))
    return found


def _calls_holding(ev: Evaluator, frame: Frame, held: Holder) -> Iterator[Holder]:
    """The calls that make an object of what is held: a loader, a subset, the parts of a split, an object of the project
    that stores its argument."""
    if held.number < 0 or len(held.path) >= LONGEST:
        return
    is_replaced = any(step.name == "dataset" for _, step in frame.code.steps_of(ir.SetAttr))
    for step, call in frame.code.calls_with(held.number):
        if not (is_replaced or held.path):
            yield Holder(step.call, (_DATASET,))
            yield Holder(step.call, (ANY_ITEM, _DATASET))
        for arg in call.args:
            if arg.value == held.number and arg.name in SAMPLE_CALLABLES:
                yield Holder(step.call, (attribute(arg.name), *held.path))
        for cls in _classes_called(ev, call, frame):
            init = ev.classes.member(cls, "__init__")
            if init is not None and init.function is not None:
                passing = Passing(init.function, call, Instance(cls, Site(frame, step.call)), init.owner)
                parameters = set(containers.parameters_of(ev, passing, held.number))
                for name in sorted(ev.code(init.function).stored):
                    if not parameters.isdisjoint(kept_parameters(ev, init.function, name)):
                        yield Holder(step.call, (attribute(name), *held.path))


def _classes_called(ev: Evaluator, call: ir.Call, frame: Frame) -> list[ClassRef]:
    """The classes of the project that a call makes an object of. What has the name of a function is not evaluated."""
    func = frame.code.exprs[call.func] if call.func != ir.NONE else None
    name = func.name if isinstance(func, ir.Global | ir.Attr) else None
    return ev.eval(call.func, frame).only(ClassRef) if name is None or name[:1].isupper() else []


def further_down(ev: Evaluator, frame: Frame, number: int, uses: Callable[..., object]) -> Iterator[Place]:
    """The module-level code that uses the names which a module gives to what expression `number` makes, or to what
    holds it."""
    file = module_of(ev, frame)
    if file is None:
        return
    own = {bind.name for _, bind in frame.code.bindings.get(number, ())}
    for name, paths in names_in_module(ev, frame, number).items():
        asked = (file.all_asking(question, name, scope=MODULE) for question in (uses, _names_again))
        for piece in dict.fromkeys(chain.from_iterable(asked)):
            if piece < frame.piece and name not in own:
                continue  # what stands above changes an object that was there before
            body = ev.body(frame.path, piece)
            named = _uses_of(body, name)
            inside = body.code.attributes("dataset") if name in own and copies_deeply(ev, Site(frame, number)) else ()
            sure = frozenset({*(named if name in own else ()), *(read for read, base in inside if base in named)})
            found = holders(body.code, (Holder(one, path) for one in named for path in paths))
            yield Place(body, sure, objects_in(found) - sure)


def module_of(ev: Evaluator, frame: Frame) -> ProjectFile | None:
    """The file whose module-level code a frame is; None for the frames of functions and methods."""
    return ev.file(frame.path) if frame.def_ == 0 and frame.receiver is None else None


def names_in_module(ev: Evaluator, frame: Frame, number: int) -> Mapping[str, Set[tuple[Step, ...]]]:
    """The names that the code of a module gives to what expression `number` makes, or to what holds it, each with the
    steps to the object: those of the statement that makes it, and of statements that give a part of it another name or
    pass it to what holds it."""
    if number not in frame.names:
        file = module_of(ev, frame)
        frame.names[number] = _find_names(ev, file, frame, number) if file is not None else {}
    return frame.names[number]


def _find_names(ev: Evaluator, file: ProjectFile, frame: Frame, number: int) -> dict[str, set[tuple[Step, ...]]]:
    names: dict[str, set[tuple[Step, ...]]] = {}
    waiting = _named(frame, holders_in(ev, frame, number))
    while waiting and len(names) < _NAMES:
        name, paths = waiting.popitem()
        is_bound_once = name in file.names and len(file.names[name]) == 1
        is_replaced = not is_bound_once or bool(file.all_asking(_replaces_dataset, name, scope=MODULE))
        new = {one for one in paths if not (is_replaced and _DATASET in one)} - names.get(name, set())
        names.setdefault(name, set()).update(new)
        for piece in file.all_asking(_names_again, name, scope=MODULE) if new else ():
            body = ev.body(frame.path, piece)
            known = [Holder(one, path) for one in _uses_of(body, name) for path in new]
            for other, more in _named(body, _with_calls(ev, body, known)).items():
                waiting.setdefault(other, set()).update(more)
    return names


def _uses_of(body: Frame, name: str) -> list[int]:
    """The expressions of module-level code that are a name of the module."""
    return [one for one, e in enumerate(body.code.exprs) if type(e) is ir.Global and e.name == name]


def _named(frame: Frame, held: Iterable[Holder]) -> dict[str, set[tuple[Step, ...]]]:
    """The names that module-level code gives to what holds an object, each with the steps to the object."""
    names: dict[str, set[tuple[Step, ...]]] = {}
    for one in held:
        for _, bind in frame.code.bindings.get(one.number, ()):
            names.setdefault(bind.name, set()).add(one.path)
        e = frame.code.exprs[one.number] if one.number >= 0 and one.path else None
        if type(e) is ir.Global:  # `sets["train"] = Crops()`
            names.setdefault(e.name, set()).add(one.path)
    return names


def given_to(ev: Evaluator, frame: Frame, number: int) -> Iterator[Passing]:
    """The functions, and the methods of objects that the same def makes or that it is a method of, to which a def
    passes what expression `number` makes."""
    yield from containers.given_to(ev, frame, number)
    for step, call in frame.code.calls_with(number):
        func = frame.code.exprs[call.func] if call.func != ir.NONE else None
        if isinstance(func, ir.Attr) and not ev.liveness.is_dead(step.context, frame):
            for made in _made_here(ev, func.base, frame):
                yield from _method_given(ev, made, func.name, call)


def _made_here(ev: Evaluator, number: int, frame: Frame) -> Iterator[Instance]:
    """The objects of the project that expression `number` is, if the def makes them or is a method of them. Their
    arguments are not evaluated: the object that asks may be among them."""
    for one in (number, *frame.code.chosen_from(number)):
        e = frame.code.exprs[one]
        if ir.is_self(e) and isinstance(frame.receiver, Instance):
            yield frame.receiver
        elif isinstance(e, ir.Call) and frame.nesting < MAX_NESTING:
            yield from (Instance(cls, Site(frame, one)) for cls in ev.eval(e.func, frame).only(ClassRef))


def _method_given(ev: Evaluator, made: Instance, name: str, call: ir.Call) -> Iterator[Passing]:
    """The method of an object of the project that a call runs."""
    member = ev.classes.member(made.cls, name)
    if member is not None and member.function is not None:
        decoration = ev.functions.decoration(member.function)
        if decoration == "static":
            yield Passing(member.function, call)
        elif decoration == "plain":
            yield Passing(member.function, call, made, member.owner)


def _kept_as(frame: Frame, number: int) -> Set[str]:
    """The attributes of its object in which a method stores what expression `number` makes."""
    if not isinstance(frame.receiver, Instance):
        return frozenset()
    steps = (step for _, step in frame.code.steps_of(ir.SetAttr) if step.value == number)
    return frozenset(step.name for step in steps if ir.is_self(frame.code.exprs[step.base]))


def _in_methods(
    ev: Evaluator, frame: Frame, held: Sequence[Holder], word: str, question: Callable[..., object], *about: Any
) -> Iterator[Place]:
    """The other methods of an object that use what one of them stores in its attributes. Those that use a part of what
    an attribute holds have to answer the question, too: many classes keep lists of objects."""
    receiver = frame.receiver
    most = 1 if frame.nesting > _NESTING else LONGEST
    kept = dict.fromkeys(one.path for one in held if one.number == SELF and 0 < len(one.path) <= most)
    for path in kept if isinstance(receiver, Instance) else ():
        assert isinstance(receiver, Instance)
        name = f".{path[0].key}"
        if len(path) == 1:
            members = ev.classes.methods_asked(receiver.cls, holds, f"{name}{word}")
        else:
            asked = ev.classes.methods_asked(receiver.cls, question, *about)
            members = (one for one in asked if _holds_word(ev, one.function, name))
        for member in members:
            function = member.function
            if function is not None and not def_key(frame) == def_key(function):
                opened = ev.functions.open_frame(function, receiver, member.owner)
                if opened is not None:
                    yield _place_in(opened, Holder(SELF, path))


def _holds_word(ev: Evaluator, function: FunctionRef | None, word: str) -> bool:
    """Whether the text of a function holds a word."""
    file = ev.file(function.path) if function is not None else None
    return file is not None and function is not None and bool(file.pieces[function.piece].ask(holds, word))


def _place_in(frame: Frame, known: Holder) -> Place:
    """The place of an object in a method whose object holds it."""
    sure = _reads_of(frame, {str(known.path[0].key)}) if len(known.path) == 1 else frozenset()
    return Place(frame, sure, objects_in(holders(frame.code, [known])) - sure)


def _reads_of(frame: Frame, attributes: Set[str]) -> frozenset[int]:
    """The expressions of a method that read one of these attributes of its object."""
    return frozenset(
        number
        for attribute in attributes
        for number, base in frame.code.attributes(attribute)
        if ir.is_self(frame.code.exprs[base])
    )


def _datasets_of_holders(ev: Evaluator, frame: Frame, number: int) -> Iterator[int]:
    """The expressions `loader.dataset` in the def that creates a dataset. The loader (or subset, or split) is one that
    the dataset is passed to, as long as it holds no other one, or one that it is assigned to. A copy holds a copy."""
    calls = {step.call for step, _ in frame.code.calls_with(number)}
    calls |= {number} if copies_deeply(ev, Site(frame, number)) else set()
    assigned = {step.base: step.value for _, step in frame.code.steps_of(ir.SetAttr) if step.name == "dataset"}
    for read, base in frame.code.attributes("dataset") if calls or number in assigned.values() else ():
        e = frame.code.exprs[base]
        is_held = base in calls or (isinstance(e, ir.Unpack) and e.value in calls)
        if assigned.get(base) == number if base in assigned else is_held:
            yield read


def copies_deeply(ev: Evaluator, site: Site) -> bool:
    """Whether what is made at `site` is a copy in which everything else is copied, too."""
    call = ev.expr(site.frame, site.expr)
    func = ev.expr(site.frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Global | ir.Attr) or func.name != "deepcopy":
        return False
    return _DEEP_COPY in ev.eval(call.func, site.frame).atoms


def kept_parameters(ev: Evaluator, function: FunctionRef, name: str) -> list[int]:
    """The parameters of a method, by their position, that it stores as attribute `name`."""
    code = ev.code(function)
    stored = (code.exprs[step.value] for _, step in code.stores_of(name))
    return [e.index for e in stored if type(e) is ir.Param and e.index > 0]


@needs_word
def _replaces_dataset(text: str, name: str) -> bool:
    """Whether a statement assigns `name.dataset`."""
    return re.search(rf"\b{re.escape(name)}\.dataset[ \t]*=(?!=)", text) is not None


@needs_word
def _is_passed(text: str, name: str) -> bool:
    """Whether a statement passes `name` to a call."""
    opening = text.find("(")
    return 0 <= opening < _last_use(text, name)


@needs_word
def _names_again(text: str, name: str) -> bool:
    """Whether a statement assigns something that is made of `name`, or loops over it."""
    binding = _BINDING.search(text)
    return binding is not None and binding.start() < _last_use(text, name)


def _last_use(text: str, name: str) -> int:
    """Where a name is used last, in characters; -1 if nowhere. A statement may have megabytes."""
    return max((one.start() for one in re.finditer(rf"\b{re.escape(name)}\b", text)), default=-1)


@needs_word
def reaches_into(text: str, name: str) -> bool:
    """Whether a text uses an attribute of `name`."""
    return f"{name}." in text
