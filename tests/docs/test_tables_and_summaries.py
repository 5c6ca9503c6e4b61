"""The tables of `knowledge` against the summaries of the libraries that they speak of: what a row says of a name, its
parameters, its defaults and its bases is derived from the released code as well, and the two must agree. A row that
says no more than the released code has no place in a table.

torch, NumPy, OpenCV and the standard library are measured, not read; so is what is compiled. Nothing is compared for
libraries that are not summarised.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pytest

from loaderlint.engine import Workspace
from loaderlint.knowledge import canonical_names, measured_libraries
from loaderlint.knowledge import derived_names as derived_names_module
from loaderlint.knowledge import torchvision_datasets as torchvision_datasets_module
from loaderlint.knowledge.canonical_names import canonical
from loaderlint.knowledge.library_datasets import DATASET_BASES, DATASET_PARAMETERS, WRAPPING_DATASETS
from loaderlint.knowledge.measured_libraries import names_in_tables
from loaderlint.knowledge.wrappers import LOADERS, TORCH_PARAMETERS, LoaderKind
from loaderlint.sources import library_summaries
from scripts import derived_names
from scripts.summarised_names import SummarisedNames
from tests.engine.test_programs_of_libraries import source, write

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
DATASET_ROWS = sorted(name for name in (*DATASET_BASES, *DATASET_PARAMETERS) if is_summarised(name))


@pytest.mark.parametrize("name", dict.fromkeys([*LOADER_ROWS, *DATASET_ROWS]))
def test_the_library_has_what_a_row_names(name: str) -> None:
    assert list(real(name))


@pytest.mark.parametrize("name", LOADER_ROWS)
def test_a_wrapper_takes_what_its_row_says(name: str) -> None:
    assert not list(differing(LOADERS[name]))


@pytest.mark.parametrize("name", dict.fromkeys(DATASET_ROWS))
def test_a_dataset_is_iterable_if_its_row_says_so(name: str) -> None:
    for summary, one in real(name):
        bases = {canonical(base) for base in summary.bases(one)}
        if ITERABLE in bases or bases.intersection(INDEXED):
            assert (ITERABLE in bases) == DATASET_BASES[name]


def test_other_names_are_those_of_the_summaries() -> None:
    assert Path(derived_names_module.__file__).read_text("utf-8") == derived_names.text()


@pytest.mark.parametrize(("prefix", "to"), [one for one in canonical_names._PREFIXES if is_summarised(one[0])])
def test_a_prefix_says_more_than_what_is_derived(prefix: str, to: str) -> None:
    """Otherwise it need not be written by hand."""
    others = {prefix + name.removeprefix(to): name for name in names_in_tables() if name.startswith(to)}
    top = prefix.partition(".")[0]
    there = [one for one in others if any(summary.definition(one) for summary in summaries(top))]
    assert not there or any(derived_names_module.DERIVED_NAMES.get(one) != others[one] for one in there)


# --- rows that the released code makes needless -----------------------------------------------------------------------

#: The fields of a loader that its source does not say, or in no form that can be derived: what its workers do, what it
#: makes of arguments that are no loader's, which versions differ.
_UNREADABLE = """
    open_defaults seeds_numpy reseeds_objects shards persistent replaces sets calls own_data switches datasets configs
    options changes
""".split()
_TORCHS = LOADERS["torch.utils.data.DataLoader"]


def unreadable(kind: LoaderKind) -> dict[str, object]:
    return {name: getattr(kind, name) for name in LoaderKind.__struct_fields__ if name in _UNREADABLE}


#: Rows with nothing but what the source says too.
READABLE_ROWS = sorted(name for name in LOADER_ROWS if unreadable(LOADERS[name]) == unreadable(_TORCHS))
#: How such a loader is made in a program, where that is not with a dataset first and a keyword for the workers.
_MADE = {
    "fairseq.data.iterators.EpochBatchIterator": "EpochBatchIterator(Items(len), list, [[0]], num_workers=4)",
    "fairseq.data.iterators.StreamingEpochBatchIterator": "StreamingEpochBatchIterator(Items(len), num_workers=4)",
}
#: Loaders that are like their base, which has a row, but whose name leads nowhere in the source: transformers makes the
#: names that it exports at run time.
_LAZY = frozenset({"transformers.Seq2SeqTrainer"})
#: Datasets that have a row because reading them costs more than it tells: a project with 86 loaders of LitData's
#: streams takes 1.3 times as long, and has the same findings.
_COSTLY = frozenset({"litdata.StreamingDataset"})


@contextmanager
def without(name: str) -> Iterator[None]:
    """Without the row of a loader, in all modules that have the table."""
    table, left = LOADERS, MappingProxyType({one: kind for one, kind in LOADERS.items() if one != name})
    modules = [one for key, one in sys.modules.items() if key.startswith("loaderlint.")]
    holding = [(one, key) for one in modules for key, value in vars(one).items() if value is table]
    names = measured_libraries.names_in_tables()
    with pytest.MonkeyPatch.context() as patch:
        for module, key in holding:
            patch.setattr(module, key, left)
        patch.setattr(measured_libraries, "names_in_tables", lambda: names - {name})
        measured_libraries.is_measured.cache_clear()
        yield
    measured_libraries.is_measured.cache_clear()


@pytest.mark.parametrize("name", READABLE_ROWS)
def test_a_row_that_says_what_the_source_says_makes_the_call_a_loader(tmp_path: Path, name: str) -> None:
    """Rules ask for the main guard around the call. Without its row, the loader is made inside the library, or is not
    seen, or has an unknown number of workers, and nothing is certain of the call."""
    module, _, last = name.rpartition(".")
    made = _MADE.get(name, f"{last}(Items(len), num_workers=4)")
    program = f"from {module} import {last}\nloader = {made}\nfor batch in loader:\n    print(batch)\n"
    settings = '[tool.loaderlint]\nstart-method = "spawn"\n'
    root = write(tmp_path.resolve(), {"train.py": source(program), "pyproject.toml": settings})

    def guards() -> list[str]:
        found = (one for of in Workspace([root]).check().values() for one in of)
        return [one.name for one in found if one.certainty == "proven"]

    assert "unguarded-worker-start" in guards()
    with without(name):
        assert "unguarded-worker-start" not in guards()


@pytest.mark.parametrize("name", LOADER_ROWS)
def test_a_row_says_more_than_that_of_its_base(name: str) -> None:
    """Otherwise the class is read, and is known by the row of its base."""
    summary, one = next(real(name))
    bases = [canonical(base) for base in summary.bases(one)][1:]
    rows = [LOADERS[base] for base in bases if base in LOADERS and LOADERS[base] is not _TORCHS]
    alike = [row.name for row in rows if unreadable(row) == unreadable(LOADERS[name])]
    assert bool(alike) == (name in _LAZY)


def test_no_dataset_whose_source_is_read_has_a_row() -> None:
    """What it derives from, and what its constructor takes, is in its source, or is derived from that."""
    rows = {*DATASET_BASES, *DATASET_PARAMETERS, *WRAPPING_DATASETS}
    by_hand = rows - torchvision_datasets_module.DERIVED_PARAMETERS.keys()
    assert {one for one in by_hand if is_summarised(one)} == _COSTLY


@pytest.mark.parametrize("name", sorted(_COSTLY))
def test_the_parameters_of_a_dataset_that_is_not_read_are_those_of_a_release(name: str) -> None:
    newest, one = next(real(name))
    args = newest.signature(one)
    assert args is not None
    known = DATASET_PARAMETERS[name]
    assert tuple(positional(args)[: len(known)]) == known


def test_parameters_of_datasets_are_those_of_the_summaries() -> None:
    assert Path(torchvision_datasets_module.__file__).read_text("utf-8") == derived_names.text_of_datasets()
