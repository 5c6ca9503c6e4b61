"""docs/libraries.md: what is known about libraries that are not installed, and from which release."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping

from loaderlint.knowledge.measured_libraries import is_measured_library
from loaderlint.sources import library_summaries
from loaderlint.sources.library_summaries import Release

_INTRODUCTION = """\
If a library is installed in the project's environment, loaderlint [reads its source](architecture/libraries.md).
Otherwise it uses a summary that comes with loaderlint: of the release that fits the versions which the project
declares, or else of the newest. `loaderlint explain FILE:LINE` shows this: `SubjectsLoader as summarised: torchio 1.2.1
(torchio/data/loader.py)`. A summary contains the interface of the modules that concern loaders and datasets, and the
effects of their functions. It is not a copy of the source. Models, layers, losses and command lines are left out.

The [tables](wrappers.md) contain measured facts about single names, and take precedence over source and summary.
*Table* means that they cover the library as a whole, because most of it is compiled. Then the summary is used only to
check them.

ultralytics is under the AGPL, so loaderlint has no summary of it. detectron2 has no release on PyPI. Both are read
where they are installed. If they are not, the [tables](wrappers.md) know the loaders that they create, with their
datasets and mappers. Nothing is known about their other classes."""


def page(note: str) -> str:
    """The page, starting with `note`, which says how it is generated."""
    rows = [_row(one, library_summaries.read(one)) for one in library_summaries.releases()]
    return "\n".join(
        [
            note,
            "# Libraries that need not be installed",
            "",
            _INTRODUCTION,
            "",
            "| library | imported as | version | modules | classes | functions | known by | read from |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            "The last column names the file on PyPI and the beginning of its SHA-256. For a source distribution",
            "(`.tar.gz`), it is that of its modules. `python -m scripts.library_summaries` renews the summaries.",
            "",
        ]
    )


def _row(release: Release, modules: Mapping[str, str]) -> str:
    counts = Counter(_defs(modules.values()))
    known = "table" if all(map(is_measured_library, release.tops)) else "summary"
    tops = ", ".join(f"`{one}`" for one in release.tops)
    made = f"{len(modules)} | {counts['class']} | {counts['function']}"
    archive = f"`{release.archive}` ({release.digest[:12]})"
    return f"| {release.library} | {tops} | {release.version} | {made} | {known} | {archive} |"


def _defs(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for one in ast.parse(text).body:
            if isinstance(one, ast.ClassDef):
                yield "class"
            elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                yield "function"
