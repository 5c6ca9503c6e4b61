"""Decides which findings of a file are shown, and why others are not: settings, comments, audits, baselines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.engine.audited import Audited
from loaderlint.engine.file_settings import Configuration
from loaderlint.engine.finding_positions import Places, last_line
from loaderlint.files.symlinks import written_for
from loaderlint.findings.audits import Refuted
from loaderlint.findings.diagnostics import Diagnostic, Note, Problem, with_fingerprint
from loaderlint.findings.finding import Finding, Place
from loaderlint.findings.read_suppressions import Suppression, covering, suppressions
from loaderlint.settings.settings import Settings
from loaderlint.sources.open_file import OpenFile
from loaderlint.sources.store import Store
from loaderlint.syntax.source import lines_of

if TYPE_CHECKING:
    from loaderlint.explanations.explanation import Hidden
    from loaderlint.findings.baseline import Baseline, Kept


class Showing:
    """Decides which findings of one project are shown. `reports_unread`: whether the parts of a file that cannot be
    parsed are reported."""

    def __init__(
        self, store: Store, configuration: Configuration, places: Places, *, reports_unread: bool = False
    ) -> None:
        self._store = store
        self._configuration = configuration
        self._places = places
        self._reports_unread = reports_unread
        self._audited = Audited(store, configuration, places)
        self._baselines: dict[Path, Baseline | Problem] = {}
        self._ours: dict[Path, bool] = {}
        self.kept: list[Kept] = []
        """The findings that baselines hid since `begin`, by file."""
        self.refuted_in: dict[Path, int] = {}
        """The number of findings that audits refuted since `begin`, by file."""

    def begin(self) -> None:
        """Begin a check: baselines are read again."""
        self.kept, self._baselines = [], {}
        self.refuted_in.clear()
        self._ours.clear()
        self._audited.begin()

    def problems(self) -> list[Problem]:
        """The problems with baselines."""
        return [one for one in self._baselines.values() if isinstance(one, Problem)]

    def shown(self, path: Path, findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
        """The findings of a file that are to be reported."""
        shown, kept = self.split(path, self.printed(path, findings))
        if kept is not None:
            self.kept.append(kept)
        return shown

    def printed(self, path: Path, findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
        """The findings that neither settings nor comments hide and no audit refutes, including those in a baseline."""
        findings = tuple(findings)
        is_valid = not self._reports_unread or self._store.is_valid(path)
        if not findings and is_valid and self._store.is_silent(path):
            return ()
        settings = self._configuration.settings(path)
        seen: dict[str, int] = {}
        used: set[tuple[Suppression, str]] = set()
        text = self._store.open(path)
        shown: list[Diagnostic] = []
        refuted = 0
        found = [self._diagnostic(path, finding) for finding in findings]
        if text is not None and not is_valid:
            found.append(self._unread(path, text))
        for diagnostic in found:
            if diagnostic is None or text is None or _switched_off(diagnostic, settings, path):
                continue
            silenced_by = _covering(text, diagnostic)
            used.update((comment, diagnostic.name) for comment in silenced_by)
            if silenced_by:
                continue
            audited = self._as_audited(diagnostic)
            if audited is None:
                refuted += 1
            else:
                shown.append(audited)
        self.refuted_in[path] = refuted
        if text is not None and suppressions(text.text):
            shown.extend(self._unused(path, text, settings, used))
        shown.sort(key=lambda d: (d.span, d.code, d.message))
        return tuple(
            with_fingerprint(d, self._configuration.root, self._places.owner(d.finding.place), seen) for d in shown
        )

    def split(self, path: Path, found: tuple[Diagnostic, ...]) -> tuple[tuple[Diagnostic, ...], Kept | None]:
        """The findings that are not in the file's baseline, and the record of the others."""
        settings = self._configuration.settings(path)
        if not settings.baseline:
            return found, None
        baseline = self._baseline((settings.directory or self._configuration.root) / settings.baseline)
        if isinstance(baseline, Problem):
            return found, None
        return baseline.split(path, found)

    def _baseline(self, path: Path) -> Baseline | Problem:
        """The baseline in a file, or what is wrong with it. Read once in each check: it is a small file."""
        from loaderlint.findings.baseline import BadBaseline, read

        if path not in self._baselines:
            try:
                self._baselines[path] = read(path)
            except BadBaseline as error:
                self._baselines[path] = Problem(path, str(error), True)
        return self._baselines[path]

    def _as_audited(self, diagnostic: Diagnostic) -> Diagnostic | None:
        """The finding with its audit evidence; None if audits refute it."""
        verdict = self._audited.verdict(diagnostic)
        if isinstance(verdict, Refuted):
            return None
        return diagnostic if verdict is None else replace(diagnostic, audit=verdict.text)

    def _diagnostic(self, path: Path, finding: Finding) -> Diagnostic | None:
        """A finding with its span in the file; None if its code is gone."""
        from loaderlint.rules import rule

        about, span = rule(finding.rule), self._places.span(finding.place)
        if about is None or span is None:
            return None
        notes = tuple(
            Note(e.place.path, at, e.message, e.is_loader)
            for e in finding.evidence
            if (at := self._places.span(e.place)) is not None
        )
        return Diagnostic(
            about.code,
            about.name,
            self._configuration.settings(path).severity_of(about.name, about.code) or finding.severity,
            finding.certainty,
            finding.message,
            path,
            span,
            "",
            notes,
            any(self._can_change(fix.files) for fix in finding.fixes),
            finding,
        )

    def _unread(self, path: Path, text: OpenFile) -> Diagnostic | None:
        """The finding for the parts of a file that no parser reads; None if all of them are read."""
        from loaderlint.rules.unread_code import RULE, about
        from loaderlint.syntax.span import Span

        parts = text.unread()
        if not parts:
            return None
        first = parts[0]
        finding = about(path, first, len(parts) - 1)
        severity = self._configuration.settings(path).severity_of(RULE.name, RULE.code) or finding.severity
        span = Span(first.line, first.column, first.line, first.column + 1)
        return Diagnostic(RULE.code, RULE.name, severity, "proven", finding.message, path, span, "", (), False, finding)

    def _can_change(self, paths: Iterable[Path]) -> bool:
        """Whether fixes may change all these files: none is a link out of the project."""
        for path in paths:
            if path not in self._ours:
                self._ours[path] = written_for(path, self._configuration.root) is not None
        return all(self._ours[path] for path in paths)

    def _unused(
        self, path: Path, text: OpenFile, settings: Settings, used: set[tuple[Suppression, str]]
    ) -> Iterator[Diagnostic]:
        """The suppressions of a file that silenced nothing; `used`: the suppressions that silenced a rule, each with
        the rule's name."""
        from loaderlint.rules.unused_suppression import RULE, about
        from loaderlint.syntax.span import Span

        if not settings.enabled(RULE.name, RULE.code) or settings.ignored_in(path, RULE.name, RULE.code):
            return
        if not text.parses:
            return  # half typed: the findings are not known
        lines = lines_of(text.text)
        starts = [piece.line for piece in text.pieces]
        silenced: dict[Suppression, set[str]] = {}
        for comment, name in used:
            silenced.setdefault(comment, set()).add(name)
        for comment in suppressions(text.text):
            unused = _unused_names(comment, settings, silenced.get(comment, set()))
            if unused is None or RULE.name in unused or RULE.code in unused:
                continue
            piece = max(bisect_right(starts, comment.line) - 1, 0)
            line = lines[comment.line]
            finding = about(comment, unused, path, Place(path, piece, -1), line)
            span = Span(comment.line, comment.column, comment.line, comment.column + len(comment.text))
            severity = settings.severity_of(RULE.name, RULE.code) or finding.severity
            yield Diagnostic(
                RULE.code, RULE.name, severity, "proven", finding.message, path, span, "", (), True, finding
            )

    def everything(self, path: Path, findings: Iterable[Finding]) -> Iterator[Diagnostic]:
        """All findings of a file, including hidden ones."""
        yield from filter(None, (self._diagnostic(path, finding) for finding in findings))

    def refuted(self, path: Path, findings: Iterable[Finding]) -> Iterator[Diagnostic]:
        """The findings that audits refute."""
        for diagnostic in self.everything(path, findings):
            if isinstance(self._audited.verdict(diagnostic), Refuted):
                yield diagnostic

    def hidden(self, path: Path, text: OpenFile, findings: Iterable[Finding]) -> Iterator[Hidden]:
        """The findings that are not shown, each with the reason."""
        from loaderlint.explanations.explanation import Hidden

        settings = self._configuration.settings(path)
        for finding in findings:
            diagnostic = self._diagnostic(path, finding)
            if diagnostic is None:
                continue
            comments = _covering(text, diagnostic)
            reason = _switched_off(diagnostic, settings, path)
            reason = reason or (f"suppressed by the comment '{comments[0].text}'" if comments else "")
            if not reason and isinstance(refuted := self._audited.verdict(diagnostic), Refuted):
                reason = f"an audit refutes it: {refuted.reason}"
            if reason:
                yield Hidden(diagnostic, reason)


def _switched_off(diagnostic: Diagnostic, settings: Settings, path: Path) -> str:
    """Why the settings hide a finding; '' if they do not."""
    from loaderlint.rules import rule

    about = rule(diagnostic.name)
    assert about is not None
    if not settings.enabled(about.name, about.code, about.enabled_by_default):
        if about.enabled_by_default:
            return "the rule is not among those that the settings select"
        return f"the rule is off by default; --extend-select {about.name} turns it on"
    return "per-file-ignores turns it off here" if settings.ignored_in(path, about.name, about.code) else ""


def _covering(text: OpenFile, diagnostic: Diagnostic) -> tuple[Suppression, ...]:
    span = diagnostic.span
    return covering(text.text, diagnostic.name, diagnostic.code, span.line, last_line(span))


def _unused_names(comment: Suppression, settings: Settings, used: set[str]) -> frozenset[str] | None:
    """The names in a suppression that silenced nothing (empty for a comment that names none and silenced nothing); None
    if it suppressed something, or if that is unknown because a rule that it may name does not run."""
    from loaderlint.rules import RULES

    if comment.names is None:  # such a comment is not meant for rules that are off by default
        meant = [rule for rule in RULES if rule.enabled_by_default]
    else:
        meant = [rule for rule in RULES if comment.covers(rule.name, rule.code)]
    if not all(settings.enabled(rule.name, rule.code, rule.enabled_by_default) for rule in meant):
        return None
    if comment.names is None:
        return None if used else frozenset()
    own = {name for name in comment.names if "[" in comment.text or name.startswith("LDR")}
    unused = {
        name
        for name in own
        if not any(rule.name in used and (name == rule.name or rule.code.startswith(name)) for rule in meant)
    }
    return frozenset(unused) or None
