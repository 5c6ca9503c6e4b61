"""Write the tables in server/loaderlint/knowledge that are derived from the summaries: the aliases of known names
(derived_names.py), and the constructors of torchvision's datasets (torchvision_datasets.py).

python -m scripts.derived_names
"""

from __future__ import annotations

from pathlib import Path

from loaderlint.knowledge import derived_names, torchvision_datasets
from loaderlint.knowledge.library_datasets import SAMPLE_CALLABLES
from loaderlint.knowledge.measured_libraries import names_in_tables
from loaderlint.sources import library_summaries
from scripts.summarised_names import SummarisedNames

_HEAD = '''"""Other names of what the tables know, as libraries export it.

Written by scripts/derived_names.py from `knowledge/library_summaries`. Run it again when these or the tables change."""

from __future__ import annotations

from types import MappingProxyType

DERIVED_NAMES = MappingProxyType(
    {
'''
_LONGEST_LINE = 120
_TORCHS_DATASET = "torch.utils.data.Dataset"
#: Its names were measured with the installed library, and two sets of transforms share them.
_UNREAD = frozenset({"torchvision"})


def text() -> str:
    """The text that derived_names.py should have."""
    rows = [_row(*one) for one in sorted(aliases().items())]
    return f"{_HEAD}{''.join(rows)}    }}\n)\n"


def _row(alias: str, name: str) -> str:
    row = f'        "{alias}": "{name}",'
    return f"{row}{'  # noqa: E501' if len(row) > _LONGEST_LINE else ''}\n"


def aliases() -> dict[str, str]:
    """For each alias in any summarised release, the name in the tables."""
    known = names_in_tables()
    found: dict[str, str] = {}
    for release in library_summaries.releases():
        if _UNREAD.intersection(release.tops):
            continue
        names = SummarisedNames(library_summaries.read(release))
        for name in sorted(known):
            if name.partition(".")[0] in release.tops:
                found.update({alias: name for alias in names.aliases(name) if alias not in known})
    return found


_DATASETS = "torchvision.datasets"
_HEAD_OF_DATASETS = '''"""The parameters of torchvision's datasets, up to the last one that is called for each sample.

Written by scripts/derived_names.py from `knowledge/library_summaries`. Run it again when these change. The source of
these classes is not read where a dataset is made: what their samples are was measured."""

from __future__ import annotations

from types import MappingProxyType

DERIVED_PARAMETERS = MappingProxyType(
    {
'''


def text_of_datasets() -> str:
    """The text that torchvision_datasets.py should have."""
    rows = [_row_of_dataset(*one) for one in sorted(parameters_of_datasets().items())]
    return f"{_HEAD_OF_DATASETS}{''.join(rows)}    }}\n)\n"


def _row_of_dataset(name: str, parameters: tuple[str, ...]) -> str:
    items = ", ".join(f'"{one}"' for one in parameters)
    row = f'        "{name}": ({items}{"," if len(parameters) == 1 else ""}),'
    if len(row) <= _LONGEST_LINE:
        return f"{row}\n"
    lines = "".join(f'            "{one}",\n' for one in parameters)
    return f'        "{name}": (\n{lines}        ),\n'


def parameters_of_datasets() -> dict[str, tuple[str, ...]]:
    """The parameters of each dataset that torchvision exports, up to the last one that is called for a sample."""
    releases = [one for one in library_summaries.fitting({}) if "torchvision" in one.tops]
    names = SummarisedNames(library_summaries.read(releases[0]))
    found: dict[str, tuple[str, ...]] = {}
    for name in names.bound_in(_DATASETS):
        full = f"{_DATASETS}.{name}"
        if _TORCHS_DATASET in names.bases(full):
            args = names.signature(full)
            given = [one.arg for one in args.args[1:]] if args is not None else []
            called = [place for place, one in enumerate(given) if one in SAMPLE_CALLABLES]
            found[full] = tuple(given[: max(called, default=-1) + 1])
    return found


def main() -> None:
    """Write the modules."""
    Path(torchvision_datasets.__file__).write_text(text_of_datasets(), "utf-8")
    Path(derived_names.__file__).write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
