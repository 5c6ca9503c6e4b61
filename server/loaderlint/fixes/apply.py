"""Intents to edits: `edits_for` for one fix, `merge` for the fixes of many findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

import libcst as cst
from msgspec.structs import replace

from loaderlint.findings.finding import (
    AddImport,
    DeleteStatement,
    EditComment,
    EncloseRest,
    Hoist,
    InsertFunction,
    InsertMethod,
    InsertStatement,
    Intent,
    NameLoopVariable,
    OverrideArguments,
    Place,
    RemoveArgument,
    Replace,
    ReplaceAttributeUses,
    SetArgument,
    Wrap,
    path_of,
    place_of,
)
from loaderlint.fixes import edit_statements, enclosing
from loaderlint.fixes.added_functions import plan_function
from loaderlint.fixes.class_members import plan_method, replace_uses
from loaderlint.fixes.conflicts import NOTHING, Fitting, all_changes, fitting, goes_on
from loaderlint.fixes.draft import NO_PLAN, Draft, NewArgument, Originals, Plan
from loaderlint.fixes.edit_arguments import override
from loaderlint.fixes.edit_comments import edit_comment
from loaderlint.fixes.edit_expressions import replace_expression, wrap
from loaderlint.fixes.file_edits import Change, FileAccess, FileEdit, NoFix, Refused
from loaderlint.fixes.hoist import plan_hoist
from loaderlint.fixes.long_lines import with_lines_broken
from loaderlint.fixes.name_scopes import Here, ensure, fill, has_word
from loaderlint.fixes.validity import is_valid
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.syntax.span import Span, TextEdit

#: Stands around the work on one fix, and takes errors of ours.
Guard = Callable[[tuple[Intent, ...]], AbstractContextManager[None]]
_Value = TypeVar("_Value")
_Fixes = TypeVar("_Fixes")


def _unguarded(group: tuple[Intent, ...]) -> AbstractContextManager[None]:
    """Errors are the caller's."""
    return nullcontext()


def edits_for(
    intents: Sequence[Intent], files: FileAccess, originals: Originals | None = None
) -> tuple[FileEdit, ...] | NoFix:
    """The edits that carry out all `intents` of one fix, sorted by path; or why that is not possible. `originals`: what
    fixes of the same version of the files have found out about them."""
    work = _Work(files, originals or Originals())
    try:
        work.add(tuple(intents))
        edits = work.edits()
    except Refused as refusal:
        return NoFix(str(refusal))
    return edits or NoFix("nothing is left to change")


def merge(
    groups: Iterable[tuple[Intent, ...]],
    files: FileAccess,
    originals: Originals | None = None,
    guard: Guard = _unguarded,
) -> tuple[FileEdit, ...]:
    """The edits of as many fixes as fit together. A fix that cannot be carried out, that conflicts with one before it,
    or that fails (`guard` takes the error) is left out as a whole; equal intents of several fixes are carried out
    once."""
    originals = originals or Originals()
    work = _Work(files, originals)
    taken = _taken(work, list(groups), guard)
    originals.go_on()
    with contained(_found_one_by_one, None), suppress(Refused):
        return work.edits()
    originals.go_on()
    return _merge_carefully(taken, files, originals, guard)


def _taken(work: _Work, groups: list[tuple[Intent, ...]], guard: Guard) -> list[tuple[Intent, ...]]:
    """Those of the fixes that fit together with the ones before them, which are in the plans then. To look at all
    changes after each fix would cost minutes where there are thousands. Where all of them fit, as they nearly always
    do, one look tells; else it is one at fewer fixes, and after each success at more again."""
    taken: list[tuple[Intent, ...]] = []
    at, size = 0, len(groups)
    while at < len(groups):
        some = groups[at : at + size]
        if len(some) == 1:
            added = work.attempt(work.add, some[0], guard) is not None
        else:
            added = work.attempt(work.add_all, some, lambda _: contained(_found_one_by_one, None)) is not None
        if added:
            taken += some
            size *= 2
        elif len(some) > 1:
            size = len(some) // 2
            continue
        at += len(some)
    return taken


def _merge_carefully(
    groups: Iterable[tuple[Intent, ...]], files: FileAccess, originals: Originals, guard: Guard
) -> tuple[FileEdit, ...]:
    """As `merge`, but looks at the result after each fix: for fixes that are right alone and break a piece together."""
    work = _Work(files, originals)
    result: tuple[FileEdit, ...] = ()
    for group in groups:
        result = work.attempt(work.edits_with, group, guard) or result
    return result


def _found_one_by_one(failure: Failure) -> None:
    """What fails for many fixes together comes again with the one that it is about."""


class _Work:
    """The drafts of all files that the fixes touch."""

    def __init__(self, files: FileAccess, originals: Originals) -> None:
        self._files = files
        self._originals = originals
        self._drafts: dict[Path, Draft] = {}
        #: The names under which each file was planned to be changed, taken up or not.
        self._names: dict[Path, list[Path]] = {}
        self._fitting: dict[Path, Fitting] = {}

    def draft(self, path: Path) -> Draft:
        if path not in self._drafts:
            self._drafts[path] = Draft(path, self._files, self._originals)
        return self._drafts[path]

    def plans(self) -> dict[Path, Plan]:
        return {path: draft.plan for path, draft in self._drafts.items()}

    def restore(self, plans: dict[Path, Plan]) -> None:
        for path, draft in self._drafts.items():
            draft.plan = plans.get(path, NO_PLAN)

    def attempt(
        self, step: Callable[[_Fixes], _Value], fixes: _Fixes, guard: Callable[[_Fixes], AbstractContextManager[None]]
    ) -> _Value | None:
        """What a step gives for one fix or several; None, and the plans as before, if that is not possible."""
        before = self.plans()
        with guard(fixes), suppress(Refused):
            return step(fixes)
        self.restore(before)
        return None

    def edits_with(self, group: tuple[Intent, ...]) -> tuple[FileEdit, ...]:
        """The edits of all plans and of one fix more. Raises Refused, the plans then half changed."""
        self.add(group)
        return self.edits()

    def add(self, group: tuple[Intent, ...]) -> tuple[Intent, ...]:
        """Add one fix to the plans, and give its intents. Raises Refused, the plans then half changed."""
        self.add_all([group])
        return group

    def add_all(self, groups: Sequence[tuple[Intent, ...]]) -> list[tuple[Intent, ...]]:
        """Add several fixes. Raises Refused, the plans then half changed. The changes of most fixes are compared with
        those beside them at once; what others add (imports, methods, arguments) is computed once for all of them."""
        fitting_now: dict[Path, Fitting] = {}
        left: dict[Path, None] = {}
        for group in groups:
            before = {path: self.draft(path).plan for path in map(path_of, group)}
            _Group(self, tuple(dict.fromkeys(group))).plan()
            for path, plan in before.items():
                known = fitting_now.get(path) or self._fitting.get(path, NOTHING)
                if known.plan is plan and goes_on(self.draft(path).plan, plan):
                    if path not in fitting_now:  # should the fixes not fit, the other one holds
                        fitting_now[path] = known.copy()
                    fitting_now[path].extend(self.draft(path))
                else:
                    left[path] = None
                self._claim(path)
        self._fitting |= fitting_now
        for path in left:
            self._fitting[path] = fitting(self.draft(path))
        return list(groups)

    def _claim(self, path: Path) -> None:
        """Change a file under this name. Refused if it is being changed under another one: the two names have one text,
        and the edits of both would be made in it."""
        file = self._files.file(path)
        others = self._names.setdefault(file, [path])
        if path not in others:
            others.append(path)
        if any(other != path and self._drafts[other].plan != NO_PLAN for other in others):
            raise Refused(f"{path.name} is being fixed under another name")

    def edits(self) -> tuple[FileEdit, ...]:
        """The edits of all plans. Raises Refused if a piece would be broken."""
        found = []
        for path in sorted(self._drafts):
            changes = with_lines_broken(self._drafts[path], all_changes(self._drafts[path]))
            if changes:
                found.append(_checked(self._drafts[path], changes))
        return tuple(found)


class _Group:
    """The intents of one fix, and the names that its marks stand for."""

    def __init__(self, work: _Work, intents: tuple[Intent, ...]) -> None:
        self._work = work
        self._intents = intents
        self._names: dict[Path, dict[str, str]] = {}
        self._methods: dict[Path, frozenset[str]] = {}
        self._imports: dict[Path, dict[str, AddImport]] = {}

    def plan(self) -> None:
        for intent in self._intents:
            if isinstance(intent, AddImport):
                marks = self._imports.setdefault(intent.path, {})
                marks[intent.module if intent.name is None else intent.name] = intent
                if intent.name is not None:
                    marks[f"{intent.module}.{intent.name}"] = intent
        for intent in self._intents:
            if isinstance(intent, InsertFunction):
                self._name(intent, intent.path, self._function(intent))
        for intent in self._intents:
            if isinstance(intent, InsertMethod):
                path = intent.cls.path
                name = plan_method(intent, self._work.draft(path), self._fill)
                self._name(intent, path, name)
                self._methods[path] = self._methods.get(path, frozenset()) | {name}
        for intent in self._intents:
            self._do(intent)

    def _name(self, intent: InsertFunction | InsertMethod, path: Path, name: str) -> None:
        self._names.setdefault(path, {})[intent.name] = name
        if name == intent.name:
            return
        mark = "{" + intent.name + "}"
        for other in self._intents:
            if other is not intent and any(has_word(text.replace(mark, ""), intent.name) for text in _texts(other)):
                raise Refused(f"the name {intent.name!r} is taken")

    def _function(self, intent: InsertFunction) -> str:
        draft = self._work.draft(intent.path)
        before = run_at = len(draft.pieces)
        for place in map(place_of, self._intents):
            if place is None or place.path != intent.path:
                continue
            tree, node = draft.find(place)
            before = min(before, place.piece)
            if not any(isinstance(above, cst.FunctionDef | cst.Lambda) for above in (node, *tree.above(node))):
                run_at = min(run_at, place.piece)
        return plan_function(intent, draft, self._imports.get(intent.path, {}), before, run_at)

    def _fill(self, text: str, place: Place, below: bool = False) -> str:
        draft = self._work.draft(place.path)
        tree, node = draft.find(place)
        here = Here(draft, place.piece, tree, node, below)
        return fill(text, here, self._names.get(place.path, {}), self._imports.get(place.path, {}))

    def _do(self, intent: Intent) -> None:
        draft = self._work.draft(path_of(intent))
        match intent:
            case AddImport():
                ensure(intent, draft, literal=self._is_literal(intent))
            case SetArgument(call, keyword, value, position, beside_unpacked):
                value = self._fill(value, call)
                self._argument(draft, NewArgument(call.piece, call.anchor, keyword, value, position, beside_unpacked))
            case RemoveArgument(call, keyword):
                self._argument(draft, NewArgument(call.piece, call.anchor, keyword, None, None))
            case OverrideArguments(call, value):
                override(draft, *draft.find(call), self._fill(value, call))
            case Wrap(place, before, after):
                wrap(draft, *draft.find(place), self._fill(before, place), self._fill(after, place))
            case Replace(place, text):
                self._replace(draft, place, text)
            case InsertStatement(place, source, where):
                edit_statements.insert(draft, place, self._fill(source, place, where == "after"), where)
            case DeleteStatement(place):
                edit_statements.delete(draft, place)
            case NameLoopVariable(place, name):
                edit_statements.name_loop_variable(draft, place, name)
            case EncloseRest(place, head):
                enclosing.enclose_rest(draft, place, head)
            case ReplaceAttributeUses(cls):
                replacement = self._fill(intent.replacement, cls)
                replace_uses(intent, draft, self._methods.get(cls.path, frozenset()), replacement)
            case Hoist(place):
                left = plan_hoist(intent, draft)
                if left.text is not None:
                    self._replace(draft, place, left.text)
            case EditComment():
                edit_comment(intent, draft)
            case InsertFunction() | InsertMethod():
                pass  # planned before

    def _argument(self, draft: Draft, argument: NewArgument) -> None:
        if argument not in draft.plan.arguments:
            draft.plan = replace(draft.plan, arguments=(*draft.plan.arguments, argument))

    def _replace(self, draft: Draft, place: Place, text: str) -> None:
        tree, node = draft.find(place)
        text = self._fill(text, place)
        if edit_statements.is_statement(node):
            edit_statements.replace(draft, place, tree, node, text)
        else:
            replace_expression(draft, tree, node, text)

    def _is_literal(self, wanted: AddImport) -> bool:
        """Whether the fix writes the imported name as it is."""
        name = wanted.name or ""
        marks = re.compile(r"\{" + re.escape(name) + r"\}|\{[\w.]*\." + re.escape(name) + r"\}")
        texts = [marks.sub("", text) for intent in self._intents for text in _texts(intent)]
        return any(has_word(text, name) for text in texts) or not any(
            map(marks.search, map("".join, map(_texts, self._intents)))
        )


def _texts(intent: Intent) -> tuple[str, ...]:
    """The source texts in an intent."""
    names = ("value", "before", "after", "text", "source", "replacement")
    if isinstance(intent, AddImport | RemoveArgument | EditComment):
        return ()
    return tuple(getattr(intent, name) for name in names if hasattr(intent, name))


# --- changes to edits -------------------------------------------------------------------------------------------------


def _checked(draft: Draft, changes: Sequence[Change]) -> FileEdit:
    """The edits of a file. Raises Refused if a piece that parses would not do so any more."""
    if not is_valid(draft, changes):
        raise Refused("the changed code would not be valid")
    index = draft.original.lines
    edits = [
        TextEdit(Span(*index.position(change.start), *index.position(change.end)), change.text) for change in changes
    ]
    return FileEdit(draft.path, tuple(edits))
