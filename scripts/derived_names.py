"""Write server/loaderlint/knowledge/derived_names.py: the other names of what the tables know, from the summaries.

python -m scripts.derived_names
"""

from __future__ import annotations

from pathlib import Path

from loaderlint.knowledge import derived_names
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
#: Its names are measured on the installed library, and two sets of transforms share them.
_UNREAD = frozenset({"torchvision"})


def text() -> str:
    """The module as it should be."""
    rows = [_row(*one) for one in sorted(aliases().items())]
    return f"{_HEAD}{''.join(rows)}    }}\n)\n"


def _row(alias: str, name: str) -> str:
    row = f'        "{alias}": "{name}",'
    return f"{row}{'  # noqa: E501' if len(row) > _LONGEST_LINE else ''}\n"


def aliases() -> dict[str, str]:
    """The name in the tables of each other name of the same thing, in any summarised release."""
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


def main() -> None:
    """Write the module."""
    Path(derived_names.__file__).write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
