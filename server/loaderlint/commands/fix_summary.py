"""The summary that `check --fix` prints: the findings that are gone, file by file, and the files that were edited."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.findings.finding import SetArgument
from loaderlint.knowledge.wrappers import TORCH_PARAMETERS
from loaderlint.report import shown_path, terminal

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic
    from loaderlint.findings.finding import Fix, Place


def lines(
    before: Mapping[Path, Sequence[Diagnostic]],
    after: Mapping[Path, Sequence[Diagnostic]],
    written: Sequence[Path],
    named: Sequence[Path],
    *,
    unsafe: bool,
) -> Iterator[str]:
    """'Fixed 2 files.', then a line for each file. `before` and `after` are the findings of the files that are checked,
    those that are not to be fixed left out; `written` the files that fixes have changed, `named` the files and folders
    that the command names (absolute); `unsafe`: whether unsafe fixes were applied. A file that is checked under several
    names, because some are links, has one line."""
    yield f"Fixed {terminal.files(len(written))}."
    shown = {path.resolve(): path for path in (*sorted(before, reverse=True), *written)}
    told: dict[Path, Counter[str]] = {}
    for path in sorted(before):
        file = path.resolve()
        told[file] = told.get(file, Counter()) | _gone(before[path], after.get(path, ()))
    passed = _passed(before, after, unsafe)
    changed = {path.resolve() for path in written}
    for file, gone in told.items():
        if gone:
            what = "; ".join([listed(gone), *(_arguments(passed[file]) if file in changed else ())])
            yield f"  {shown_path(shown[file], Path.cwd())}: {gone.total()} fixed ({what})"
    for path in written:
        if not told.get(path.resolve()):
            is_inside = any(path.is_relative_to(one) for one in named)
            yield f"  {shown_path(path, Path.cwd())}: {_edited(passed[path.resolve()], is_inside)}"


def _edited(passed: Set[tuple[str, Place]], is_inside: bool) -> str:
    """What was done to a file without findings of its own: '2 fixed (worker_init_fn at 2 loaders)', 'also edited (it
    was not named; worker_init_fn at 1 loader)', 'edited'."""
    arguments = list(_arguments(passed))
    if not is_inside:
        return f"also edited ({'; '.join(['it was not named', *arguments])})"
    calls = {call for _, call in passed}
    return f"{len(calls)} fixed ({'; '.join(arguments)})" if arguments else "edited"


def _passed(
    before: Mapping[Path, Sequence[Diagnostic]], after: Mapping[Path, Sequence[Diagnostic]], unsafe: bool
) -> defaultdict[Path, set[tuple[str, Place]]]:
    """By file, the arguments that fixes have set, each with its call."""
    passed: defaultdict[Path, set[tuple[str, Place]]] = defaultdict(set)
    for path, found in before.items():
        left = {one.fingerprint for one in after.get(path, ())}
        for one in found:
            fix = _applied(one, unsafe) if one.fingerprint not in left else None
            for intent in fix.intents if fix else ():
                if isinstance(intent, SetArgument):
                    file = intent.call.path.resolve()
                    passed[file].add((intent.keyword, replace(intent.call, path=file)))
    return passed


def _arguments(passed: Set[tuple[str, Place]]) -> Iterator[str]:
    """'worker_init_fn at 2 loaders', one text for each argument."""
    for name, count in sorted(Counter(name for name, _ in passed).items()):
        call = "loader" if name in TORCH_PARAMETERS else "call"
        yield f"{name} at {count} {call}{'' if count == 1 else 's'}"


def _applied(one: Diagnostic, unsafe: bool) -> Fix | None:
    """The fix of a finding that `--fix` applies."""
    return next((fix for fix in one.finding.fixes if unsafe or fix.safety == "safe"), None)


def _gone(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> Counter[str]:
    """The number of findings with a fix that are gone, by rule."""
    fixable = Counter(one.name for one in before if one.fixable)
    return fixable - Counter(one.name for one in after if one.fixable)


def kept_back(found: Mapping[Path, Sequence[Diagnostic]], named: Sequence[Path], unsafe: bool) -> Iterator[str]:
    """For each file, how many of its findings are not fixed because their fix would edit files that are not `named`,
    and which files these are."""
    counts: Counter[tuple[Path, tuple[Path, ...]]] = Counter()
    for path, diagnostics in found.items():
        for one in diagnostics:
            fix = _applied(one, unsafe)
            outside = sorted(file for file in (fix.files if fix else ()) if not is_named(file, named))
            counts[path, tuple(outside)] += bool(outside)
    for (path, files), count in sorted(counts.items()):
        if count:
            whose = "1 finding is not fixed: its" if count == 1 else f"{count} findings are not fixed: their"
            names = ", ".join(shown_path(file, Path.cwd()) for file in files)
            yield f"{shown_path(path, Path.cwd())}: {whose} fix edits {names}, which --only-named leaves alone"


def is_named(path: Path, named: Iterable[Path]) -> bool:
    """Whether a file is, or is below, one of the named files and folders (absolute), following links."""
    real = Path(os.path.realpath(path))
    return any(path.is_relative_to(one) or real.is_relative_to(os.path.realpath(one)) for one in named)


def listed(rules: Counter[str]) -> str:
    """'shared-generator, 2 opencv-threads'."""
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in sorted(rules.items()))
