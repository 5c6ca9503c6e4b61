"""Attributes that code sets on an object after it is created: `data.transform = Crop()`, or by a method that stores its
argument, such as `data.set_transform(Crop())`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.higher_order import PIPELINES
from loaderlint.knowledge.library_datasets import SAMPLE_CALLABLES, is_library_dataset
from loaderlint.knowledge.wrappers import SET_BY_LOADERS
from loaderlint.project.evaluation import containers
from loaderlint.project.evaluation.attribute_assignments import may_assign
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
from loaderlint.project.evaluation.type_tests import may_be
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    Site,
    Val,
    def_key,
    join,
    sites_of,
)
from loaderlint.project.modules.dependencies import holds, needs_word
from loaderlint.project.modules.project_files import MODULE, ProjectFile

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Methods that run while an object is created: their arguments are no later values of its attributes.
_MAKING = frozenset({"__init__", "__post_init__", "__new__", "__setstate__"})
#: The loaders that set attributes of their dataset, each with the word in the text of its calls.
_LOADER_WORDS = tuple(
    (kind, kind.rpartition(".")[2]) for kind in sorted(kind for kinds in SET_BY_LOADERS.values() for kind in kinds)
)
#: Objects that have their arguments (keywords, or the dict that comes first) as attributes, and what code assigns.
RECORDS = frozenset(
    """
    types.SimpleNamespace argparse.Namespace easydict.EasyDict munch.Munch munch.munchify addict.Dict
    omegaconf.OmegaConf.create ml_collections.ConfigDict ml_collections.config_dict.ConfigDict box.Box dotmap.DotMap
    """.split()
)
_SETS_OF_ANOTHER = re.compile(
    r"^[ \t]*(?!self\b)\w+\.\w+[ \t]*(?:=(?!=)|,)|[:;,=][ \t]*(?!self\b)\w+\.\w+[ \t]*=(?!=)", re.M
)
#: What binds a name to the value that follows.
_BINDING = re.compile(r"[\w\])][ \t]*=(?!=)|\bfor\b")
_DEEP_COPY = Lib("copy.deepcopy")
_DATASET = attribute("dataset")
#: The maximum number of objects that create each other around one that is searched for in the lists and dicts of the
#: next one.
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


class Assignment(NamedTuple):
    """Step `number` of a frame, which assigns an attribute of an object. `is_sure`: of this object, and no other."""

    frame: Frame
    number: int
    step: ir.SetAttr
    is_sure: bool


def set_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[Val]:
    """What the code that creates an object, or gets it, assigns to its attribute `name`: in the same def, in a function
    that it passes the object to, further down in a module, or in a method of the object that keeps it. A copy does not
    have what is assigned to the original later."""
    for site in sites_of(made):
        for frame, number, step, is_sure in _assignments(ev, site, name):
            is_it = is_sure or may_be(ev, made, step.base, step.context, frame)
            if is_it and _lasts(made, site, frame, number):
                yield ev.eval(step.value, frame)


def stores_on(ev: Evaluator, made: Instance | LibObject) -> Iterator[tuple[Frame, int, ir.SetAttr]]:
    """The steps of the code that `set_on` searches which assign an attribute of an object, whatever its name; each with
    its frame and number."""
    for site in sites_of(made):
        for place in _places(ev, site, ".", _sets_attribute_of_another, uses=_sets_attribute):
            for number, step in place.frame.code.steps_of(ir.SetAttr):
                if place.may_be(step.base) and step.value != ir.NONE and _lasts(made, site, place.frame, number):
                    is_it = step.base in place.objects or may_be(ev, made, step.base, step.context, place.frame)
                    if is_it and not ev.liveness.is_dead(step.context, place.frame):
                        yield place.frame, number, step


def items_set_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[tuple[str | None, Val]]:
    """The items that the code which `set_on` searches stores in the dict that is attribute `name` of an object:
    `job.options["size"] = 4`. None for an unknown key. Its own methods are searched elsewhere."""
    for site in sites_of(made):
        for place in _places(ev, site, f".{name}", _reads_of_another, f".{name}", uses=_reaches_into):
            for number, base in place.frame.code.attributes(name):
                if place.may_be(base) and not ir.is_self(place.frame.code.exprs[base]):
                    yield from containers.stored_in(ev, number, place.frame)


def appended_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[Val]:
    """What the code that `set_on` searches appends to the list that is attribute `name` of an object:
    `pipeline.steps.append(Crop())`. Its own methods are searched elsewhere."""
    for frame, number in lists_on(ev, made, name):
        if not ir.is_self(frame.code.exprs[_base_of(frame, number)]):
            yield from containers.appended(ev, number, frame)


def lists_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[tuple[Frame, int]]:
    """The expressions that read attribute `name` of an object in the code that `set_on` searches, each with its
    frame."""
    word = f".{name}"
    for site in sites_of(made):
        for place in _places(ev, site, word, _reads_of_another, word, uses=_reaches_into):
            for number, base in place.frame.code.attributes(name):
                if place.may_be(base):
                    yield place.frame, number


def _base_of(frame: Frame, number: int) -> int:
    e = frame.code.exprs[number]
    return e.base if isinstance(e, ir.Attr) else ir.NONE


def set_before(ev: Evaluator, made: LibObject, name: str, read: Site | None) -> tuple[list[Val], bool]:
    """What code assigns to attribute `name` of an object before `read`, and whether it always does. That is known if
    all of it is in one def or one module, and no loop is around the read; otherwise, this is `set_on`."""
    found = list(_assignments(ev, made.site, name)) if sites_of(made) == [made.site] else []
    frames = (made.site.frame, *(one.frame for one in found))
    here = read.frame.code.evaluated_by(read.expr) if read is not None else None
    if read is None or here is None or not found or not _is_straight_line(read, frames):
        return list(set_on(ev, made, name)), False
    placed = sorted(found, key=lambda one: (one.frame.piece, one.number))
    before = [one for one in placed if (one.frame.piece, one.number) < (read.frame.piece, here)]
    sure = [index for index, one in enumerate(before) if one.is_sure and _always_precedes(one.frame, one.step, read)]
    last = before[sure[-1] :] if sure else before
    return [ev.eval(one.step.value, one.frame) for one in last], bool(sure)


def _is_straight_line(read: Site, frames: Iterable[Frame]) -> bool:
    """Whether no loop is around an expression, and these frames are its own or module-level code of its file."""
    code = read.frame.code
    return code.is_branch(code.context_of(read.expr)) and all(_is_in_one_scope(read.frame, one) for one in frames)


def _is_in_one_scope(frame: Frame, other: Frame) -> bool:
    """Whether two frames are one, or module-level code of one file."""
    return frame is other or (frame.path == other.path and frame.def_ == other.def_ == 0)


def _always_precedes(frame: Frame, step: ir.SetAttr, read: Site) -> bool:
    """Whether a step further up runs whenever an expression is evaluated."""
    code = read.frame.code
    if frame is not read.frame or code.one is None:
        return step.context == 0
    return code.one.is_within(code.context_of(read.expr), step.context)


def replaced_on(ev: Evaluator, site: Site | None, name: str) -> Val | None:
    """What the code that makes an object of another one, at `site`, always assigns to its attribute `name`: what the
    attribute was before is gone. None if there is no such code."""
    if site is None:
        return None
    found = (one for one in _assignments(ev, site, name) if one.is_sure)
    steps = (one for one in found if _always_follows(site, one.frame, one.number, one.step))
    sure = [ev.eval(one.step.value, one.frame) for one in steps]
    return join(sure) if sure else None


def _assignments(ev: Evaluator, site: Site, name: str) -> Iterator[Assignment]:
    """The steps that assign attribute `name` of what is made at `site`."""
    for place in _places(ev, site, f".{name}", may_assign, name):
        for number, step in place.frame.code.steps_of(ir.SetAttr):
            if step.name == name and step.value != ir.NONE and place.may_be(step.base):
                if not ev.liveness.is_dead(step.context, place.frame):
                    yield Assignment(place.frame, number, step, step.base in place.objects)


def _lasts(made: Instance | LibObject, site: Site, frame: Frame, number: int | None) -> bool:
    """Whether an object has what step `number` does to the object from `site`: a copy does not have what happens to the
    original later."""
    return made.copied in (None, site) or number is None or not _is_after(made.copied, frame, number)


def _is_after(site: Site, frame: Frame, number: int) -> bool:
    """Whether a step runs after the call at `site`, and never before it: further down in the same def, not in a loop
    around both, or further down in the module."""
    made, one = site.frame, frame.code.one
    if frame is not made:
        return _is_further_down(made, frame)
    call = frame.code.evaluated_by(site.expr)
    if one is None or call is None or number <= call:
        return False
    around = one.common(one.steps[number].context, one.steps[call].context)
    return frame.code.is_branch(around)


def _always_follows(site: Site, frame: Frame, number: int, step: ir.Step) -> bool:
    """Whether a step always runs after the call at `site`."""
    if frame is not site.frame:
        return step.context == 0 and _is_further_down(site.frame, frame)
    call, one = frame.code.evaluated_by(site.expr), frame.code.one
    return (
        one is not None and call is not None and number > call and one.is_within(one.steps[call].context, step.context)
    )


def _is_further_down(made: Frame, frame: Frame) -> bool:
    """Whether a frame is module-level code further down than another one."""
    return made.path == frame.path and made.def_ == frame.def_ == 0 and made.piece < frame.piece


def is_set_by_loader(ev: Evaluator, made: Instance | LibObject, name: str) -> bool:
    """Whether the code that creates a dataset, or gets it, passes it to a loader that sets attribute `name` of it,
    whatever the attribute was."""
    return any(_is_set_by_loader_at(ev, site, name) for site in sites_of(made))


def _is_set_by_loader_at(ev: Evaluator, made: Site, name: str) -> bool:
    kinds = SET_BY_LOADERS.get(name, frozenset())
    words = (word for kind, word in _LOADER_WORDS if kind in kinds)
    places = (place for word in words for place in _places(ev, made, "", holds, word, uses=holds))
    calls = (
        ev.eval(call.func, place.frame)
        for place in places
        for number in sorted(place.objects | place.others)
        for _, call in place.frame.code.calls_with(number)
    )
    return any(one.name in kinds for callee in calls for one in callee.only(Lib))


def calls_on(ev: Evaluator, made: Instance, method: str) -> Iterator[tuple[Frame, ir.Call]]:
    """The calls of a method on an object in the code that `set_on` searches; each with its frame."""
    for site in sites_of(made):
        for frame, step, call, is_sure in _calls_at(ev, site, method):
            func = ev.expr(frame, call.func)
            base = func.base if isinstance(func, ir.Attr) else ir.NONE
            is_it = is_sure or may_be(ev, made, base, step.context, frame)
            if is_it and _lasts(made, site, frame, frame.code.evaluated_by(step.call)):
                yield frame, call


def calls_replacing(ev: Evaluator, site: Site | None, method: str) -> Iterator[tuple[Frame, ir.Call]]:
    """The calls of a method that always follow where an object is made of another one, at `site`; each with its
    frame."""
    for frame, step, call, is_sure in _calls_at(ev, site, method) if site is not None else ():
        number = frame.code.evaluated_by(step.call)
        if site is not None and number is not None and is_sure and _always_follows(site, frame, number, step):
            yield frame, call


def _calls_at(ev: Evaluator, site: Site, method: str) -> Iterator[tuple[Frame, ir.Perform, ir.Call, bool]]:
    """The calls of a method on what is made at `site`, and whether they are surely on this object."""
    called = f".{method}("
    for place in _places(ev, site, called, holds, called):
        for step, call in place.frame.code.calls:
            func = ev.expr(place.frame, call.func)
            if isinstance(func, ir.Attr) and func.name == method and place.may_be(func.base):
                if not ev.liveness.is_dead(step.context, place.frame):
                    yield place.frame, step, call, func.base in place.objects


def kept_parameters(ev: Evaluator, function: FunctionRef, name: str) -> list[int]:
    """The parameters of a method, by their position, that it stores as attribute `name`."""
    code = ev.code(function)
    stored = (code.exprs[step.value] for _, step in code.stores_of(name))
    return [e.index for e in stored if type(e) is ir.Param and e.index > 0]


def _keeps_something(ev: Evaluator, function: FunctionRef) -> bool:
    """Whether a method stores one of its parameters."""
    return any(kept_parameters(ev, function, name) for name in ev.code(function).stored)


def may_keep(method: str) -> bool:
    """Whether a method with this name may be called on an existing object, and store its argument."""
    return method not in _MAKING


# --- where an object has a name ---------------------------------------------------------------------------------------


def places_of(ev: Evaluator, made: Site, word: str) -> Iterator[Place]:
    """The code that has a name for the object made at a place: the def that creates it, functions that get it and whose
    text holds `word`, and, if a module gives it a name, other module-level code."""
    return _places(ev, made, "", holds, word, uses=holds)


def _places(
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
    held = _holders_in(ev, frame, number)
    sure = frozenset((number, *_datasets_of_holders(ev, frame, number), *_reads_of(frame, _kept_as(frame, number))))
    yield Place(frame, sure, objects_in(held) - sure)
    yield from _further_down(ev, frame, number, held, uses)
    yield from _in_methods(ev, frame, held, word, question, *about)
    yield from _outside(ev, frame, held)
    for opened, known in (
        *_passed_on(ev, frame, held, question, *about),
        *_passed_further_down(ev, frame, number, held, question, *about),
    ):
        objects = objects_in(holders(opened.code, [known]))
        yield Place(opened, objects) if not known.path else Place(opened, frozenset(), objects)


def _passed_on(
    ev: Evaluator, frame: Frame, held: Sequence[Holder], question: Callable[..., object], *about: Any
) -> Iterator[tuple[Frame, Holder]]:
    """The functions, whose text answers a question, that a def passes what holds an object, and the methods of the
    objects of the project that keep it; each with what holds it there."""
    for one in held:
        for passing in _given_to(ev, frame, one.number) if one.number >= 0 else ():
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
    ev: Evaluator, frame: Frame, number: int, held: Sequence[Holder], question: Callable[..., object], *about: Any
) -> Iterator[tuple[Frame, Holder]]:
    """As `_passed_on`, of the calls of other module-level code that pass what a module gives a name."""
    if number not in frame.passing:
        frame.passing[number] = tuple(_passing_further_down(ev, frame, held))
    for body, known in frame.passing[number]:
        yield from _passed_on(ev, body, known, question, *about)


def _passing_further_down(
    ev: Evaluator, frame: Frame, held: Sequence[Holder]
) -> Iterator[tuple[Frame, tuple[Holder, ...]]]:
    """The other module-level code with calls that pass what a module gives a name, and what holds the object there."""
    file = ev.file(frame.path) if frame.def_ == 0 and frame.receiver is None else None
    for name, paths in _names_in_module(ev, file, frame, held).items() if file is not None else ():
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
        for place in _places(ev, owner, word, holds, word, uses=_reaches_into):
            known = (Holder(one, path) for one in place.objects | place.others)
            objects = objects_in(holders(place.frame.code, known))
            if objects:
                yield Place(place.frame, frozenset(), objects)


def _holders_in(ev: Evaluator, frame: Frame, number: int) -> tuple[Holder, ...]:
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


def _further_down(
    ev: Evaluator, frame: Frame, number: int, held: Sequence[Holder], uses: Callable[..., object]
) -> Iterator[Place]:
    """The module-level code that uses the names which a module gives to what expression `number` makes, or to what
    holds it."""
    file = ev.file(frame.path) if frame.def_ == 0 and frame.receiver is None else None
    if file is None:
        return
    own = {bind.name for _, bind in frame.code.bindings.get(number, ())}
    for name, paths in _names_in_module(ev, file, frame, held).items():
        asked = (file.all_asking(question, name, scope=MODULE) for question in (uses, _names_again))
        for piece in dict.fromkeys(chain.from_iterable(asked)):
            body = ev.body(frame.path, piece)
            named = _uses_of(body, name)
            inside = body.code.attributes("dataset") if name in own and copies_deeply(ev, Site(frame, number)) else ()
            sure = frozenset({*(named if name in own else ()), *(read for read, base in inside if base in named)})
            found = holders(body.code, (Holder(one, path) for one in named for path in paths))
            yield Place(body, sure, objects_in(found) - sure)


def _names_in_module(
    ev: Evaluator, file: ProjectFile, frame: Frame, held: Sequence[Holder]
) -> dict[str, set[tuple[Step, ...]]]:
    """The names that the code of a module gives to what holds an object, each with the steps to the object: those of
    the statement that makes it, and of statements that give a part of it another name or pass it to what holds it."""
    names: dict[str, set[tuple[Step, ...]]] = {}
    waiting = _named(frame, held)
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


def _given_to(ev: Evaluator, frame: Frame, number: int) -> Iterator[Passing]:
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
    holders = {step.call for step, _ in frame.code.calls_with(number)}
    holders |= {number} if copies_deeply(ev, Site(frame, number)) else set()
    assigned = {step.base: step.value for _, step in frame.code.steps_of(ir.SetAttr) if step.name == "dataset"}
    for read, base in frame.code.attributes("dataset") if holders or number in assigned.values() else ():
        e = frame.code.exprs[base]
        is_held = base in holders or (isinstance(e, ir.Unpack) and e.value in holders)
        if assigned.get(base) == number if base in assigned else is_held:
            yield read


def copies_deeply(ev: Evaluator, site: Site) -> bool:
    """Whether what is made at `site` is a copy in which everything else is copied, too."""
    call = ev.expr(site.frame, site.expr)
    func = ev.expr(site.frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Global | ir.Attr) or func.name != "deepcopy":
        return False
    return _DEEP_COPY in ev.eval(call.func, site.frame).atoms


# --- objects that a function returns ----------------------------------------------------------------------------------


def as_given(ev: Evaluator, value: Val, frame: Frame, number: int) -> Val:
    """The result of a call, or an item of it. If the caller sets attributes of the objects in it, they become objects
    of their own: those that the function returns to other callers do not have these attributes."""
    made = [one for one in value.atoms if type(one) is Instance and one.site is not None and one.given is None]
    datasets = [one for one in value.atoms if type(one) is LibObject and _is_fresh(one)]
    if not (made or datasets) or frame.nesting >= MAX_NESTING:
        return value
    if not (_are_set_at(ev, frame, number) or _keep_at(ev, made, frame, number) or _is_reset_at(ev, frame, number)):
        return value
    given = Site(frame, number)
    named: list[Atom] = [replace(one, given=given) for one in made]
    named += [replace(one, given=given) for one in datasets]
    return Val(value.atoms.difference(made, datasets).union(named), value.origins)


def as_copied(ev: Evaluator, value: Val, frame: Frame, number: int) -> Val:
    """The result of `copy.copy` or `copy.deepcopy`. Datasets become objects of their own, and so do other objects if
    the code sets attributes of the copy: what is assigned to one later is not what the other holds."""
    if frame.nesting >= MAX_NESTING:
        return value
    copied = Site(frame, number)
    made = [one for one in value.atoms if type(one) is Instance and one.site is not None]
    is_changed = bool(made) and (_are_set_at(ev, frame, number) or _keep_at(ev, made, frame, number))
    made = [one for one in made if is_changed or _has_samples(ev, one) or _is_of_library(ev, one)]
    datasets = [one for one in value.atoms if type(one) is LibObject and is_library_dataset(one.name)]
    own: list[Atom] = [replace(one, copied=copied) for one in made]
    own += [replace(one, copied=copied) for one in datasets]
    return Val(value.atoms.difference(made, datasets).union(own), value.origins)


def _has_samples(ev: Evaluator, made: Instance) -> bool:
    return any(ev.classes.member(made.cls, name) for name in ("__getitem__", "__iter__"))


def _is_of_library(ev: Evaluator, made: Instance) -> bool:
    return any(is_library_dataset(base) for base in ev.classes.library_bases(made.cls))


def _is_fresh(made: LibObject) -> bool:
    """Whether what a call gives may become an object of its own: a dataset, a record or a pipeline."""
    is_changed = is_library_dataset(made.name) or made.name in RECORDS or made.name in PIPELINES
    return made.given is None and is_changed


def _are_set_at(ev: Evaluator, frame: Frame, number: int) -> bool:
    """Whether the calling def, a function to which it passes the result, later module-level code, or another method of
    its object, assigns attributes of the result."""
    held = _holders_in(ev, frame, number)
    objects = objects_in(held)
    if any(step.base in objects for _, step in frame.code.steps_of(ir.SetAttr)):
        return True
    if any(base in objects for _, base in frame.code.attributes("transforms")):
        return True
    if any(_sets_what_it_is_given(ev, one, number) for one in _given_to(ev, frame, number)):
        return True
    file = ev.file(frame.path) if frame.def_ == 0 and frame.receiver is None else None
    if file is not None:
        names = _names_in_module(ev, file, frame, held)
        return any(file.all_asking(_sets_attribute, name, scope=MODULE) for name in names)
    receiver = frame.receiver
    return isinstance(receiver, Instance) and any(
        True
        for name in sorted({str(one.path[0].key) for one in held if one.number == SELF and one.path})
        for _ in ev.classes.methods_asked(receiver.cls, _sets_attribute, f"self.{name}")
    )


def _sets_what_it_is_given(ev: Evaluator, passing: Passing, number: int) -> bool:
    """Whether a function assigns attributes of the parameter that a call passes expression `number` as."""
    file = ev.file(passing.function.path)
    if file is None or not file.pieces[passing.function.piece].ask(_sets_attribute_of_another):
        return False
    code = ev.code(passing.function)
    bases = [code.exprs[step.base] for _, step in code.steps_of(ir.SetAttr)]
    parameters = containers.parameters_of(ev, passing, number) if bases else ()
    return any(type(base) is ir.Param and base.index in parameters for base in bases)


def _keep_at(ev: Evaluator, made: list[Instance], frame: Frame, number: int) -> bool:
    """Whether the calling def calls a method of the datasets that stores an argument."""
    made = [one for one in made if _has_samples(ev, one)]
    if not made:
        return False
    held = _holders_in(ev, frame, number)
    further = ((one.frame, one.objects | one.others) for one in _further_down(ev, frame, number, held, _reaches_into))
    methods = {
        name
        for place, objects in ((frame, objects_in(held)), *further)
        for one in objects
        for _, _, _, name in place.code.method_calls(one)
    }
    members = (ev.classes.member(one.cls, name) for name in sorted(methods) for one in made)
    return any(one is not None and one.function is not None and _keeps_something(ev, one.function) for one in members)


def _is_reset_at(ev: Evaluator, frame: Frame, number: int) -> bool:
    """Whether the calling def passes the dataset to a loader that sets attributes of it."""
    file = ev.file(frame.path)
    if file is None or not any(file.all_asking(holds, word, scope=MODULE) for _, word in _LOADER_WORDS):
        return False
    return any(_is_set_by_loader_at(ev, Site(frame, number), name) for name in SET_BY_LOADERS)


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
def _reads_of_another(text: str, word: str) -> bool:
    """Whether a text uses an attribute, such as `.steps`, of something else than `self`."""
    return re.search(rf"(?<!\bself){re.escape(word)}\b", text) is not None


@needs_word
def _reaches_into(text: str, name: str) -> bool:
    """Whether a text uses an attribute of `name`."""
    return f"{name}." in text


def _sets_attribute_of_another(text: str) -> bool:
    """Whether a function may assign an attribute of something else than `self`."""
    return _SETS_OF_ANOTHER.search(text) is not None


@needs_word
def _sets_attribute(text: str, name: str) -> bool:
    """Whether a statement assigns an attribute of `name`, or of a part of it: `name["train"].transform = Crop()`."""
    part = r"(?:\.\w+|\[[^\]\n]*\])*"
    return re.search(rf"(?:^|[:;])[ \t]*{re.escape(name)}{part}\.\w+[ \t]*=(?!=)", text, re.MULTILINE) is not None
