"""Where new imports stand among those of a file: in the group of their kind, sorted as that group is."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from loaderlint.fixes.draft import Draft, NewImport
from loaderlint.fixes.layout import above_comments
from loaderlint.project.modules.import_resolution import WELL_KNOWN

#: The kinds of imports, in the order in which isort and ruff put their groups.
FUTURE, STANDARD, THIRD_PARTY, RELATIVE = range(4)

#: Without `datasets`, a library whose name is also the usual one of a project's own folder.
_LIBRARIES = WELL_KNOWN - {"datasets"}

#: So many imports are not sorted by chance.
_BLOCK = 4

#: So many imports are a block, even below other statements.
_MAIN_BLOCK = 3

_Key = tuple[object, ...]


class Import(NamedTuple):
    """An import statement of the file's head: the (first) module that it names, with leading dots if it is relative,
    and where it stands. `end`: the offset below it."""

    module: str
    is_from: bool
    start: int
    end: int

    @property
    def root(self) -> str:
        """The package that the module is of; '' if it is relative."""
        return self.module.partition(".")[0]

    @property
    def kind(self) -> int:
        """Which group the import belongs to. The project's own absolute imports count as third party."""
        if not self.root:
            return RELATIVE
        if self.root == "__future__":
            return FUTURE
        return STANDARD if self.root in sys.stdlib_module_names else THIRD_PARTY

    def belongs_to(self, group: Sequence[Import]) -> bool:
        """Whether a heading of a group is about the import too: not that of the project's own modules about one of a
        library."""
        return not self.is_library or any(one.is_library or one.kind == STANDARD for one in group)

    @property
    def is_library(self) -> bool:
        """Whether the module is surely none of the project's own."""
        return self.root in _LIBRARIES


def placed(
    new: Sequence[NewImport], head: Sequence[Import], below: Sequence[Import], draft: Draft
) -> list[tuple[int, str]]:
    """Where the new imports go: offsets, each with the lines to insert.

    `head`: the imports that open the file (at least one). `below`: those under other statements, where a kind goes that
    the head has not. What stands between may be there for them, such as `os.environ["OMP_NUM_THREADS"] = "1"`."""
    opening = {one.kind for one in head}
    statements: dict[tuple[int, int], list[str]] = {}
    for one in sorted(new, key=lambda one: _by_form(_as_import(one))):
        wanted = _as_import(one)
        offset = _offset(wanted, _neighbours(wanted, head, below), draft)
        statements.setdefault((offset, wanted.kind), []).append(one.statement + draft.newline)
    parted = all(
        not _is_one_block(draft, first, second) for first, second in pairwise(head) if first.kind != second.kind
    )
    kinds = opening | {one.kind for one in below}
    texts: dict[int, str] = {}
    for (offset, kind), lines in sorted(statements.items()):
        text = "".join(dict.fromkeys(lines))
        is_first = kind < min(kinds)
        if parted and kind not in kinds:
            text = text + draft.newline if is_first else draft.newline + text
        elif _is_above_heading(offset, draft):
            text += draft.newline
        texts[offset] = texts.get(offset, "") + text
    return list(texts.items())


def _neighbours(new: Import, head: Sequence[Import], below: Sequence[Import]) -> Sequence[Import]:
    """The imports among which a new one goes: those that open the file, unless only those below have its kind, or its
    package, or are the file's main block of it: the only import above `writer = SummaryWriter()` heads no block. A
    package that is imported further down may be found only there, below `sys.path.append("..")`."""
    if new.kind == THIRD_PARTY and not new.is_library and new.root not in {one.root for one in head}:
        own = [one for one in below if one.root == new.root]
        if own:
            return own
    if _is_main_block(below, head, new):
        return below
    return head if new.kind in {one.kind for one in head} else [*head, *below]


def _is_main_block(below: Sequence[Import], head: Sequence[Import], new: Import) -> bool:
    """Whether most imports of a new one's kind stand below others, and none of its package above."""
    if new.root in {one.root for one in head} or (new.kind == THIRD_PARTY and not new.is_library):
        return False
    above, there = ([one for one in part if one.kind == new.kind] for part in (head, below))
    if new.kind == THIRD_PARTY:
        above, there = ([one for one in part if one.is_library] for part in (above, there))
    return len(there) >= _MAIN_BLOCK and len(there) > 2 * len(above)


def _offset(new: Import, head: Sequence[Import], draft: Draft) -> int:
    """Where a new import goes: into its group, else below the groups that come before it."""
    mixed = _mixed(new, head, draft)
    for key in (_by_module, _by_form):
        keys = [key(one) for one in mixed]
        if mixed and _is_sorted(keys):
            at = bisect_right(keys, key(new))
            return mixed[at - 1].end if at else _below_heading(mixed, draft)
    group = _group(new, head, draft)
    if group:
        return _in_group(new, group, head, draft)
    lower = [one for one in head if one.kind < new.kind]
    if lower:
        return lower[-1].end
    line = draft.line_start(head[0].start)
    return above_comments(draft, line) or line  # below the comments that open the file


def _mixed(new: Import, head: Sequence[Import], draft: Draft) -> Sequence[Import]:
    """The first block of imports, if it has several kinds in turns, that of a new one among them: where it is sorted,
    it is so over all kinds."""
    block = [one for one in head if _is_one_block(draft, head[0], one)]
    kinds = [one.kind for one in block]
    in_turns = len(block) >= _BLOCK and new.kind in kinds and any(kind < last for last, kind in pairwise(kinds))
    return block if in_turns else ()


def _group(new: Import, head: Sequence[Import], draft: Draft) -> list[Import]:
    """The imports that a new one belongs to: those of its kind that stand together, with the first one of its form
    (`import a`), or of third party imports with one of its own package, with a library, or with the first one."""
    same = [one for one in head if one.kind == new.kind]
    if new.kind != THIRD_PARTY or not same:
        first = next((one for one in same if one.is_from == new.is_from), same[0]) if same else None
        return [one for one in same if first and _is_one_block(draft, first, one)]
    own = [one for one in same if one.root == new.root]
    libraries = [one for one in same if one.is_library]
    first = (own or libraries or same)[0]
    return [one for one in same if _is_one_block(draft, first, one)]


def _is_one_block(draft: Draft, first: Import, second: Import) -> bool:
    """Whether no blank line parts two imports."""
    start, end = sorted((first.start, second.start))
    return all(line.strip() for line in draft.text[start:end].splitlines())


def _in_group(new: Import, group: Sequence[Import], head: Sequence[Import], draft: Draft) -> int:
    """The offset in a group: where its order wants the new import. If it has none, with those of the same package, and
    so below whatever makes that known; else below the last one of its form (`import a`), of third party imports below
    that of a library: the project's own may follow. `import a` stands above where there are only `from b import c`."""
    heading = _heading(group, draft)
    if heading is not None and not new.belongs_to(group):
        return heading
    for key in (_by_form, _by_module) if _sorts_by_module(head) else (_by_form,):
        keys = [key(one) for one in group]
        if _is_sorted(keys):
            at = bisect_right(keys, key(new))
            return group[at - 1].end if at else _below_heading(group, draft)
    own = [one for one in group if one.root == new.root] if new.kind == THIRD_PARTY else []
    if own and own != group:
        return _in_group(new, own, head, draft)
    beside = [one for one in group if one.is_library] or group
    same_form = [one for one in beside if one.is_from == new.is_from]
    if not same_form and not new.is_from:
        return _below_heading(beside, draft)
    return (same_form or beside)[-1].end


def _heading(group: Sequence[Import], draft: Draft) -> int | None:
    """The offset of the comment lines directly above the first import of a group; None if there are none, or they open
    the file."""
    line = draft.line_start(group[0].start)
    first = above_comments(draft, line)
    return first if 0 < first < line else None


def _is_above_heading(offset: int, draft: Draft) -> bool:
    """Whether comments begin at an offset, and no code stands directly above."""
    above = draft.text[draft.line_start(offset - 1) : offset] if offset else ""
    return draft.text.startswith("#", offset) and not above.strip()


def _below_heading(group: Sequence[Import], draft: Draft) -> int:
    """The offset above the first import of a group, and below the comments there: they are the heading of the group, or
    open the file."""
    return draft.line_start(group[0].start)


def _sorts_by_module(head: Sequence[Import]) -> bool:
    """Whether the imports of each kind are sorted by module alone. One group alone may be so by chance."""
    kinds = {one.kind for one in head}
    return all(_is_sorted([_by_module(one) for one in head if one.kind == kind]) for kind in kinds)


def _is_sorted(keys: Sequence[_Key]) -> bool:
    return all(before <= after for before, after in pairwise(keys))


def _by_form(one: Import) -> _Key:
    """isort's usual order: `import a` before `from a import b`."""
    return one.is_from, one.module.lower()


def _by_module(one: Import) -> _Key:
    """The order by module alone, isort's `force_sort_within_sections`."""
    return (one.module.lower(), one.is_from)


def _as_import(new: NewImport) -> Import:
    return Import(new.meaning.module, new.meaning.name is not None, 0, 0)
