"""What the evaluator says a value may be, against what Python makes of it: random programs run, and each value of a
name, and each set of arguments with which they make a loader, is one of those that are said to be possible.

`LOADERLINT_FUZZ=20 python -m pytest tests/robustness/test_real_values.py` runs twenty times as many programs that
make loaders."""

from __future__ import annotations

import random
import sys
import types
from collections import defaultdict
from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import (
    ClassRef,
    FunctionRef,
    Instance,
    Literal_,
    MapOf,
    SeqOf,
    Unknown,
    Val,
)
from loaderlint.project.reach.model import Loader, Model
from tests.project.linking import link
from tests.project.test_values import shown
from tests.robustness import calculations, loading_programs
from tests.robustness.scale import scaled

_RUNS = 6
#: Of every hundred more programs, one has a value that depends on itself, of which the evaluator misses a part.
_PROGRAMS = 40


@pytest.mark.parametrize("seed", range(_PROGRAMS))
def test_each_value_is_possible(tmp_path: Path, seed: int) -> None:
    text = calculations.program(seed)
    real: dict[int, list[object]] = defaultdict(list)
    for run in range(_RUNS):
        for number, value in passed(text, random.Random(run)).items():
            real[number].append(value)
    model = link(tmp_path, text).model
    for number, values in sorted(real.items()):
        told = [one.argument("collate_fn") for one in model.loaders if one.name == f"loader{number}"]
        for value in values:
            said = "; ".join(shown(one, model) for one in told)
            assert any(covers(one, value, model) for one in told), (
                f"{text}\n{calculations.NAMES[number]} is {value!r}, not {said}"
            )


#: The arguments that are watched, with their defaults.
_DEFAULTS: dict[str, object] = {"num_workers": 0, "persistent_workers": False, "shuffle": None, "batch_size": 1}


@pytest.mark.parametrize("seed", range(scaled(60)))
def test_each_loader_is_found_with_its_arguments(tmp_path: Path, seed: int) -> None:
    text = loading_programs.program(seed)
    real = [row for run in range(_RUNS) for row in _made(text, random.Random(run))]
    model = link(tmp_path, text).model
    for row in real:
        told = "\n".join(str({name: shown(one.argument(name), model) for name in _DEFAULTS}) for one in model.loaders)
        assert any(_may_get(one, row, model) for one in model.loaders), f"{text}\n{row} is none of\n{told}"


def _may_get(loader: Loader, row: dict[str, object], model: Model) -> bool:
    """Whether a loader may get these arguments. None stands for one that may not be passed."""
    told = {name: loader.argument(name) for name in row}
    return all(
        covers(one, row[name], model) or (covers(one, None, model) and row[name] == _DEFAULTS[name])
        for name, one in told.items()
    )


def _made(text: str, chance: random.Random) -> list[dict[str, object]]:
    """The arguments of the loaders that the program makes."""
    found: list[dict[str, object]] = []

    class DataLoader:
        def __init__(
            self,
            dataset: object,
            batch_size: object = 1,
            shuffle: object = None,
            *,
            num_workers: object = 0,
            persistent_workers: object = False,
        ) -> None:
            row = (num_workers, persistent_workers, shuffle, batch_size)
            found.append(dict(zip(_DEFAULTS, row, strict=True)))

    _run(text, DataLoader, chance)
    return found


def passed(text: str, chance: random.Random) -> dict[int, object]:
    """The values that the program passes to its loaders, by their numbers."""
    found: list[object] = []
    _run(text, lambda rows, collate_fn: found.append(_kept(collate_fn)), chance)
    return dict(enumerate(found))


def _run(text: str, loader: object, chance: random.Random) -> None:
    """Run the program with `loader` as torch's DataLoader, until it ends or fails."""
    answers: dict[int, bool] = {}

    def flag(number: int) -> bool:
        return answers.setdefault(number, chance.random() < 0.5)

    def fail(number: int) -> None:
        if chance.random() < 0.4:
            raise ValueError(number)

    unseen, data = types.ModuleType("unseen"), types.ModuleType("torch.utils.data")
    unseen.__dict__.update(flag=flag, fail=fail)
    data.__dict__.update(DataLoader=loader)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "unseen", unseen)
        patch.setitem(sys.modules, "torch.utils.data", data)
        try:
            exec(compile(text, "case.py", "exec"), {"__name__": "case"})
        except (TypeError, AttributeError, KeyError, NameError, IndexError, ValueError):
            pass  # what a random program does may make no sense


def _kept(value: object, depth: int = 4) -> object:
    """A value as it is now: its lists and dicts copied. Ellipsis stands for what is too deep."""
    if isinstance(value, list | tuple | dict) and depth == 0:
        return ...
    if isinstance(value, list | tuple):
        return type(value)(_kept(one, depth - 1) for one in value)
    return {key: _kept(one, depth - 1) for key, one in value.items()} if isinstance(value, dict) else value


def covers(told: Val, real: object, model: Model) -> bool:
    """Whether a real value is one of those that are said to be possible."""
    return real is ... or any(_is(atom, real, model) for atom in told.atoms)


def _is(atom: object, real: object, model: Model) -> bool:
    """Whether a possible value is the real one. Of lists, only which items they may hold is known."""
    match atom:
        case Literal_(kind, value):
            return type(real).__name__ == kind and real == value
        case SeqOf("list", items):
            held = Val(frozenset(one for item in items for one in item.atoms))
            return isinstance(real, list) and all(covers(held, one, model) for one in real)
        case SeqOf(_, items):
            is_alike = isinstance(real, tuple) and len(real) == len(items)
            return is_alike and all(map(covers, items, real, [model] * len(items)))  # type: ignore[arg-type]
        case MapOf(keys, values):
            return isinstance(real, dict) and _has_items(dict(zip(keys, values, strict=True)), real, model)
        case FunctionRef():
            one = model.ev.code(atom).one
            return isinstance(real, types.FunctionType) and one is not None and one.name in (real.__name__, "")
        case ClassRef():
            return isinstance(real, type) and model.ev.classes.name(atom) == real.__name__
        case Instance(cls, _):
            return type(real).__name__ == model.ev.classes.name(cls)
    return True  # the result of a library's function, or not known


def _has_items(told: dict[str | None, Val], real: dict[str, object], model: Model) -> bool:
    if any(key not in real and key is not None and not _may_lack(value) for key, value in told.items()):
        return False
    return all(None in told or (key in told and covers(told[key], value, model)) for key, value in real.items())


def _may_lack(value: Val) -> bool:
    return any(isinstance(one, Unknown) for one in value.atoms)
