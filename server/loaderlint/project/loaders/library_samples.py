"""The functions of the project that a library's dataset calls for each sample."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.lazy_pipelines import (
    STAGED,
    STAGES,
    STREAM_METHODS,
    STREAMING,
    TO_STREAM,
    lazy_methods,
)
from loaderlint.knowledge.loader_defaults import SAMPLE_CALLABLES
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.library_values import flattened, parameter_position
from loaderlint.project.evaluation.values import LibObject, Unknown, Val, of


def sample_callables(ev: Evaluator, dataset: LibObject) -> list[Val]:
    """The functions that `dataset` calls for each sample: the arguments of its constructor, and those of the methods
    that made it, as in `WebDataset(urls).decode().map(crop)`, the last first."""
    arguments = ev.calls.site_arguments(dataset.site)
    values = [arguments.get(name, parameter_position(dataset.name, name)) for name in SAMPLE_CALLABLES]
    found = [value for value in values if value is not None and not isinstance(value.unknown, Unknown)]
    return [*found, *_steps(ev, dataset)] if lazy_methods(dataset.name) else found


def _steps(ev: Evaluator, dataset: LibObject) -> Iterator[Val]:
    left, seen = [dataset], {dataset}
    while left:
        one = left.pop()
        arguments = ev.calls.site_arguments(one.site)
        if one.name in STAGED:
            yield from _stages(ev, arguments)
        method, owners = _made_by(ev, one)
        if any(method in lazy_methods(owner.name) or _is_stream_method(ev, method, owner) for owner in owners):
            yield from _passed(arguments)
        left.extend(owner for owner in owners if owner not in seen)
        seen.update(owners)


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
    values = (*arguments.positional, *(value for _, value in arguments.keywords))
    return (value for value in values if not isinstance(value.unknown, Unknown))
