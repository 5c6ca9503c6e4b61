"""The functions of the project that a library's dataset calls for each sample."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.lazy_pipelines import (
    GIVEN_LISTS,
    GIVING_FUNCTIONS,
    GIVING_METHODS,
    ITEM,
    ITEM_DATASET,
    REPLACING_METHODS,
    SETTING_METHOD,
    STAGED,
    STAGES,
    STREAM_METHODS,
    STREAMING,
    TABLES,
    TO_STREAM,
    keeps_functions,
    lazy_methods,
)
from loaderlint.knowledge.library_datasets import SAMPLE_CALLABLES
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.item_values import entry_of
from loaderlint.project.evaluation.later_attributes import is_set_by_loader, replaced_on, set_on
from loaderlint.project.evaluation.library_calls import flattened, parameter_position
from loaderlint.project.evaluation.values import (
    Atom,
    Lib,
    LibObject,
    MapOf,
    SeqOf,
    Unknown,
    Val,
    constant,
    of,
)
from loaderlint.project.modules.dependencies import holds
from loaderlint.project.modules.project_files import MODULE


def sample_callables(ev: Evaluator, dataset: LibObject) -> list[Val]:
    """The functions that `dataset` calls for each sample: the arguments of its constructor, those that are assigned to
    its attributes of the same names later, and those of the methods that made it, as in
    `WebDataset(urls).decode().map(crop)`, the last first."""
    arguments = ev.calls.site_arguments(dataset.site)
    names = [name for name in SAMPLE_CALLABLES if not is_set_by_loader(ev, dataset, name)]
    replaced = {name: replaced_on(ev, dataset.copied, name) for name in names}
    kept = [name for name in names if replaced[name] is None]
    values = [arguments.get(name, parameter_position(dataset.name, name)) for name in kept]
    values += [value for name in kept for value in set_on(ev, dataset, name)]
    values += replaced.values()
    found = [value for value in values if value is not None and not isinstance(value.unknown, Unknown)]
    return [*found, *_steps(ev, dataset)] if keeps_functions(dataset.name) else found


def _steps(ev: Evaluator, dataset: LibObject) -> Iterator[Val]:
    left, seen = [dataset], {dataset}
    while left:
        one = left.pop()
        arguments = ev.calls.site_arguments(one.site)
        if one.name in STAGED:
            yield from _stages(ev, arguments)
        if one.name in GIVEN_LISTS:
            yield from _items(arguments.get(*GIVEN_LISTS[one.name]))
        if one.name.startswith(ITEM_DATASET):
            yield from _given_later(ev, one)
        method, owners = _made_by(ev, one)
        if any(method in lazy_methods(owner.name) or _is_stream_method(ev, method, owner) for owner in owners):
            yield from _passed(arguments)
        if one.name.startswith(TABLES):
            given = list(_set_later(ev, one))
            yield from given
            if given or method in REPLACING_METHODS:
                continue  # the transforms of its owners are not called any more
        left.extend(owner for owner in owners if owner not in seen)
        seen.update(owners)


def _items(passed: Val | None) -> Iterator[Val]:
    """The functions in a list, each by itself or in a dict."""
    for sequence in passed.only(SeqOf) if passed else ():
        for item in sequence.items:
            yield from (entry_of(one, constant("str", ITEM)) for one in item.only(MapOf))
            yield Val(item.atoms - {*item.only(MapOf)})


def _given_later(ev: Evaluator, dataset: LibObject) -> Iterator[Val]:
    """The functions that a dataset gets in the def that creates it, or further down in a module."""
    for frame in _frames_after(ev, dataset.site.frame):
        for step, call in ev.performed(frame):
            if not ev.liveness.is_dead(step.context, frame) and dataset in _receivers(ev, call, frame):
                yield from _passed(ev.calls.arguments(call, frame))


def _set_later(ev: Evaluator, dataset: LibObject) -> Iterator[Val]:
    """The functions that the def which creates a Hugging Face dataset, or module-level code further down, makes its
    transform: `dataset.set_transform(crop)`, `datasets["train"].set_transform(crop)`."""
    for frame in _frames_after(ev, dataset.site.frame):
        for step, call in ev.performed(frame):
            func = ev.expr(frame, call.func)
            if not isinstance(func, ir.Attr) or func.name != SETTING_METHOD:
                continue
            receivers = ev.eval(func.base, frame).only(LibObject)
            if any(_is_same(ev, one, dataset) for one in receivers) and not ev.liveness.is_dead(step.context, frame):
                yield from _passed(ev.calls.arguments(call, frame))


def _is_same(ev: Evaluator, one: LibObject, other: LibObject) -> bool:
    """Whether two objects are the same, or items of the same object under the same constant key."""
    if one == other:
        return True
    return bool(read := _read_item(ev, one)) and read == _read_item(ev, other)


def _read_item(ev: Evaluator, one: LibObject) -> tuple[frozenset[LibObject], object] | None:
    """What an object is an item of, and under which constant key; None if it is not known as one."""
    e = ev.expr(one.site.frame, one.site.expr)
    key = ev.eval(e.index, one.site.frame).literal if isinstance(e, ir.Index) and e.index != ir.NONE else None
    owners = frozenset(_library_objects(ev.eval(e.base, one.site.frame))) if isinstance(e, ir.Index) else frozenset()
    return (owners, key.value) if key is not None and owners else None


def _frames_after(ev: Evaluator, frame: Frame) -> Iterator[Frame]:
    yield frame
    file = ev.file(frame.path) if frame.def_ == 0 and frame.receiver is None else None
    for word in (*GIVING_METHODS, SETTING_METHOD) if file else ():
        assert file is not None
        yield from (ev.body(frame.path, piece) for piece in file.all_asking(holds, word, scope=MODULE))


def _receivers(ev: Evaluator, call: ir.Call, frame: Frame) -> Collection[Atom]:
    """The objects to which a call passes a function: the receiver of the method, or a list of datasets."""
    func = ev.expr(frame, call.func)
    if isinstance(func, ir.Attr) and func.name in GIVING_METHODS:
        owners = ev.eval(func.base, frame).atoms
        if any(isinstance(one, LibObject) for one in owners):
            return owners
    if any(isinstance(one, Lib) and one.name in GIVING_FUNCTIONS for one in ev.eval(call.func, frame).atoms):
        datasets = ev.calls.arguments(call, frame).get("datasets", 0)
        return flattened(datasets) if datasets is not None else ()
    return ()


def _made_by(ev: Evaluator, made: LibObject) -> tuple[str, list[LibObject]]:
    """The method whose call made a library's object, and the objects that it was called on. For an item: '' and the
    object that it is an item of."""
    frame = made.site.frame
    e = ev.expr(frame, made.site.expr)
    if isinstance(e, ir.Index):
        return "", _library_objects(ev.eval(e.base, frame))
    func = ev.expr(frame, e.func) if isinstance(e, ir.Call) else None
    if isinstance(func, ir.Attr):
        return func.name, _library_objects(ev.eval(func.base, frame))
    return "", []


def _library_objects(value: Val) -> list[LibObject]:
    return [atom for atom in value.ordered() if isinstance(atom, LibObject)]


def _is_stream_method(ev: Evaluator, method: str, owner: LibObject) -> bool:
    """Whether a method calls its argument for each sample because its owner is a Hugging Face stream."""
    if method not in STREAM_METHODS or not owner.name.startswith("datasets."):
        return False
    if f".{TO_STREAM}" in owner.name:
        return True
    streaming = ev.calls.site_arguments(owner.site).get(STREAMING)
    return streaming is not None and streaming.literal is not None and streaming.literal.value is True


def _stages(ev: Evaluator, arguments: Arguments) -> Iterator[Val]:
    """The functions of a dataset's stages."""
    for value in arguments.positional:
        for stage in flattened(value):
            if isinstance(stage, LibObject) and stage.name in STAGES:
                yield from _passed(ev.calls.site_arguments(stage.site))
            elif not isinstance(stage, LibObject):
                yield of(stage)


def _passed(arguments: Arguments) -> Iterator[Val]:
    return (value for value in arguments.values if not isinstance(value.unknown, Unknown))
