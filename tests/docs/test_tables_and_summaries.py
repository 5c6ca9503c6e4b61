"""The tables of `knowledge` against the summaries of the libraries that they speak of: what a row says of a name, its
parameters, its defaults and its bases is derived from the released code as well, and the two must agree.

torch, NumPy, OpenCV and the standard library are measured, not read; so is what is compiled. Nothing is compared for
libraries that are not summarised.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from loaderlint.knowledge import canonical_names
from loaderlint.knowledge import derived_names as derived_names_module
from loaderlint.knowledge.canonical_names import canonical
from loaderlint.knowledge.loader_defaults import DATASET_BASES, DATASET_PARAMETERS, WRAPPING_DATASETS
from loaderlint.knowledge.measured_libraries import names_in_tables
from loaderlint.knowledge.wrappers import LOADERS, TORCH_PARAMETERS, LoaderKind
from loaderlint.sources import library_summaries
from scripts import derived_names
from scripts.summarised_names import SummarisedNames

ITERABLE = "torch.utils.data.IterableDataset"
INDEXED = ("torch.utils.data.Dataset", "torch.utils.data.MapDataPipe")


@cache
def summaries(top: str) -> tuple[SummarisedNames, ...]:
    """The names of the summarised releases of a library, the newest first."""
    fitting = library_summaries.fitting({})
    return tuple(SummarisedNames(library_summaries.read(one)) for one in fitting if top in one.tops)


def real(name: str) -> Iterator[tuple[SummarisedNames, str]]:
    """The summaries that have what the tables call `name`, the newest first, each with the name there."""
    replaced = [(prefix, to) for prefix, to in canonical_names._PREFIXES if name.startswith(to)]
    for one in (name, *(prefix + name.removeprefix(to) for prefix, to in replaced)):
        for summary in summaries(one.partition(".")[0]):
            if canonical(one) == name and summary.definition(one) is not None:
                yield summary, one


def is_summarised(name: str) -> bool:
    return bool(summaries(name.partition(".")[0]))


def positional(args: ast.arguments) -> list[str]:
    names = [one.arg for one in (*args.posonlyargs, *args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def defaults(args: ast.arguments) -> dict[str, ast.expr]:
    names = [one.arg for one in (*args.posonlyargs, *args.args)]
    found = dict(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
    found.update({one.arg: value for one, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value})
    return found


def differing(kind: LoaderKind) -> Iterator[str]:
    """Where a row of the wrappers and the released code differ."""
    for summary, name in list(real(kind.name))[:1]:
        args = summary.signature(name)
        if args is None:
            if kind.parameters != TORCH_PARAMETERS:
                yield "the constructor is torch's own"
            continue
        here = positional(args)
        named = [*here, *(one.arg for one in args.kwonlyargs)]
        takes_torchs = args.kwarg is not None or args.vararg is not None
        if kind.parameters != TORCH_PARAMETERS and tuple(here[: len(kind.parameters)]) != kind.parameters:
            yield f"parameters {here}, not {list(kind.parameters)}"
        renamed = {torchs: own for own, torchs in kind.rename}
        for parameter, value in kind.defaults:
            own = renamed.get(parameter, parameter)
            found = defaults(args).get(own)
            if isinstance(found, ast.Constant) and found.value != value:
                yield f"{own}={found.value!r}, not {value!r}"
            if found is None and own not in named and not takes_torchs:
                yield f"no parameter {own}"


LOADER_ROWS = sorted(name for name in LOADERS if is_summarised(name))
DATASET_ROWS = sorted(name for name in DATASET_BASES if is_summarised(name))
PARAMETER_ROWS = sorted(name for name in DATASET_PARAMETERS if is_summarised(name))
WRAPPING_ROWS = sorted(name for name in WRAPPING_DATASETS if is_summarised(name))


@pytest.mark.parametrize("name", [*LOADER_ROWS, *DATASET_ROWS, *PARAMETER_ROWS, *WRAPPING_ROWS])
def test_the_library_has_what_a_row_names(name: str) -> None:
    assert list(real(name))


@pytest.mark.parametrize("name", LOADER_ROWS)
def test_a_wrapper_takes_what_its_row_says(name: str) -> None:
    assert not list(differing(LOADERS[name]))


@pytest.mark.parametrize("name", DATASET_ROWS)
def test_a_dataset_is_iterable_if_its_row_says_so(name: str) -> None:
    for summary, one in real(name):
        bases = {canonical(base) for base in summary.bases(one)}
        if ITERABLE in bases or bases.intersection(INDEXED):
            assert (ITERABLE in bases) == DATASET_BASES[name]


@pytest.mark.parametrize("name", PARAMETER_ROWS)
def test_a_dataset_takes_what_its_row_says(name: str) -> None:
    for summary, one in list(real(name))[:1]:
        args = summary.signature(one)
        assert args is not None
        said = DATASET_PARAMETERS[name]
        assert tuple(positional(args)[: len(said)]) == said


@pytest.mark.parametrize("name", WRAPPING_ROWS)
def test_a_wrapping_dataset_holds_the_one_at_its_row(name: str) -> None:
    for summary, one in list(real(name))[:1]:
        args = summary.signature(one)
        parameter, position = WRAPPING_DATASETS[name]
        assert args is not None and positional(args)[position] == parameter


def test_other_names_are_those_of_the_summaries() -> None:
    assert Path(derived_names_module.__file__).read_text("utf-8") == derived_names.text()


@pytest.mark.parametrize(("prefix", "to"), [one for one in canonical_names._PREFIXES if is_summarised(one[0])])
def test_a_prefix_says_more_than_what_is_derived(prefix: str, to: str) -> None:
    """Otherwise it need not be written by hand."""
    others = {prefix + name.removeprefix(to): name for name in names_in_tables() if name.startswith(to)}
    top = prefix.partition(".")[0]
    there = [one for one in others if any(summary.definition(one) for summary in summaries(top))]
    assert not there or any(derived_names_module.DERIVED_NAMES.get(one) != others[one] for one in there)
