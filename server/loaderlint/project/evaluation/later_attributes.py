"""Attributes that code sets on an object after it is created: `data.transform = Crop()`, or by a method that stores its
argument, such as `data.set_transform(Crop())`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.higher_order import PIPELINES, STEPS
from loaderlint.knowledge.library_datasets import is_library_dataset
from loaderlint.knowledge.wrappers import SET_BY_LOADERS
from loaderlint.project.evaluation import containers
from loaderlint.project.evaluation.attribute_assignments import may_assign
from loaderlint.project.evaluation.contained_objects import (
    SELF,
    objects_in,
)
from loaderlint.project.evaluation.containers import Passing
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import MAX_NESTING
from loaderlint.project.evaluation.object_places import (
    Place,
    further_down,
    given_to,
    holders_in,
    kept_parameters,
    module_of,
    names_in_module,
    places,
    reaches_into,
)
from loaderlint.project.evaluation.type_tests import may_be
from loaderlint.project.evaluation.values import (
    Atom,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    Site,
    Val,
    join,
    sites_of,
)
from loaderlint.project.modules.dependencies import holds, needs_word
from loaderlint.project.modules.project_files import MODULE

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


class Assignment(NamedTuple):
    """Step `number` of a frame, which assigns an attribute of an object. `is_sure`: of this object, and no other."""

    frame: Frame
    number: int
    step: ir.SetAttr
    is_sure: bool


class MethodCall(NamedTuple):
    """A call of a method of an object, expression `base`, in a frame. `is_sure`: of this object, and no other."""

    frame: Frame
    step: ir.Perform
    call: ir.Call
    base: int
    is_sure: bool


def set_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[Val]:
    """What the code that creates an object, or gets it, assigns to its attribute `name`: in the same def, in a function
    that it passes the object to, further down in a module, or in a method of the object that keeps it. A copy does not
    have what is assigned to the original later."""
    for site in sites_of(made):
        for one in _assignments(ev, site, name):
            if _is_kept(ev, made, site, one):
                yield ev.eval(one.step.value, one.frame)


def stores_on(ev: Evaluator, made: Instance | LibObject) -> Iterator[tuple[Frame, int, ir.SetAttr]]:
    """The steps of the code that `set_on` searches which assign an attribute of an object, whatever its name; each with
    its frame and number."""
    for site in sites_of(made):
        for place in places(ev, site, ".", _sets_attribute_of_another, uses=_sets_attribute):
            for one in _assigned_in(place):
                if _is_kept(ev, made, site, one) and not ev.liveness.is_dead(one.step.context, one.frame):
                    yield one.frame, one.number, one.step


def items_set_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[tuple[str | None, Val]]:
    """The items that the code which `set_on` searches stores in the dict that is attribute `name` of an object:
    `job.options["size"] = 4`. None for an unknown key. Its own methods are searched elsewhere."""
    for frame, number, base in reads_on(ev, made, name):
        if not ir.is_self(frame.code.exprs[base]):
            yield from containers.stored_in(ev, number, frame)


def appended_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[Val]:
    """What the code that `set_on` searches appends to the list that is attribute `name` of an object:
    `pipeline.steps.append(Crop())`. Its own methods are searched elsewhere."""
    for frame, number, base in reads_on(ev, made, name):
        if not ir.is_self(frame.code.exprs[base]):
            yield from containers.appended(ev, number, frame)


def reads_on(ev: Evaluator, made: Instance | LibObject, name: str) -> Iterator[tuple[Frame, int, int]]:
    """The expressions that read attribute `name` of an object in the code that `set_on` searches, each with its frame
    and the expression that has the attribute."""
    word = f".{name}"
    for site in sites_of(made):
        for place in places(ev, site, word, _reads_of_another, word, uses=reaches_into):
            for number, base in place.frame.code.attributes(name):
                if place.may_be(base):
                    yield place.frame, number, base


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
    for place in places(ev, site, f".{name}", may_assign, name):
        for one in _assigned_in(place):
            if one.step.name == name and not ev.liveness.is_dead(one.step.context, one.frame):
                yield one


def _assigned_in(place: Place) -> Iterator[Assignment]:
    """The steps that assign an attribute of what may be the object of a place."""
    for number, step in place.frame.code.steps_of(ir.SetAttr):
        if step.value != ir.NONE and place.may_be(step.base):
            yield Assignment(place.frame, number, step, step.base in place.objects)


def _is_kept(ev: Evaluator, made: Instance | LibObject, site: Site, one: Assignment) -> bool:
    """Whether an object has what a step assigns to the object from `site`."""
    is_it = one.is_sure or may_be(ev, made, one.step.base, one.step.context, one.frame)
    return is_it and _lasts(made, site, one.frame, one.number)


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
    found = (place for word in words for place in places(ev, made, "", holds, word, uses=holds))
    calls = (
        ev.eval(call.func, place.frame)
        for place in found
        for number in sorted(place.objects | place.others)
        for _, call in place.frame.code.calls_with(number)
    )
    return any(one.name in kinds for callee in calls for one in callee.only(Lib))


def calls_on(ev: Evaluator, made: Instance, method: str) -> Iterator[tuple[Frame, ir.Call]]:
    """The calls of a method on an object in the code that `set_on` searches; each with its frame."""
    for site in sites_of(made):
        for frame, step, call, base, is_sure in _calls_at(ev, site, method):
            is_it = is_sure or may_be(ev, made, base, step.context, frame)
            if is_it and _lasts(made, site, frame, frame.code.evaluated_by(step.call)):
                yield frame, call


def calls_replacing(ev: Evaluator, site: Site | None, method: str) -> Iterator[tuple[Frame, ir.Call]]:
    """The calls of a method that always follow where an object is made of another one, at `site`; each with its
    frame."""
    for frame, step, call, _, is_sure in _calls_at(ev, site, method) if site is not None else ():
        number = frame.code.evaluated_by(step.call)
        if site is not None and number is not None and is_sure and _always_follows(site, frame, number, step):
            yield frame, call


def _calls_at(ev: Evaluator, site: Site, method: str) -> Iterator[MethodCall]:
    """The calls of a method on what is made at `site`."""
    called = f".{method}("
    for place in places(ev, site, called, holds, called):
        for step, call in place.frame.code.calls:
            func = ev.expr(place.frame, call.func)
            if isinstance(func, ir.Attr) and func.name == method and place.may_be(func.base):
                if not ev.liveness.is_dead(step.context, place.frame):
                    yield MethodCall(place.frame, step, call, func.base, func.base in place.objects)


def _keeps_something(ev: Evaluator, function: FunctionRef) -> bool:
    """Whether a method stores one of its parameters."""
    return any(kept_parameters(ev, function, name) for name in ev.code(function).stored)


def may_keep(method: str) -> bool:
    """Whether a method with this name may be called on an existing object, and store its argument."""
    return method not in _MAKING


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
    held = holders_in(ev, frame, number)
    objects = objects_in(held)
    if any(step.base in objects for _, step in frame.code.steps_of(ir.SetAttr)):
        return True
    if any(base in objects for _, base in frame.code.attributes(STEPS)):
        return True
    if any(_sets_what_it_is_given(ev, one, number) for one in given_to(ev, frame, number)):
        return True
    file = module_of(ev, frame)
    if file is not None:
        names = names_in_module(ev, frame, number)
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
    held = holders_in(ev, frame, number)
    further = ((one.frame, one.objects | one.others) for one in further_down(ev, frame, number, reaches_into))
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
def _reads_of_another(text: str, word: str) -> bool:
    """Whether a text uses an attribute, such as `.steps`, of something else than `self`."""
    return re.search(rf"(?<!\bself){re.escape(word)}\b", text) is not None


def _sets_attribute_of_another(text: str) -> bool:
    """Whether a function may assign an attribute of something else than `self`."""
    return _SETS_OF_ANOTHER.search(text) is not None


@needs_word
def _sets_attribute(text: str, name: str) -> bool:
    """Whether a statement assigns an attribute of `name`, or of a part of it: `name["train"].transform = Crop()`."""
    part = r"(?:\.\w+|\[[^\]\n]*\])*"
    return re.search(rf"(?:^|[:;])[ \t]*{re.escape(name)}{part}\.\w+[ \t]*=(?!=)", text, re.MULTILINE) is not None
