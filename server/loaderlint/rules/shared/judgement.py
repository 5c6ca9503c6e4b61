"""The verdict on a candidate: a fault in the workers of some loaders, or the reason why it is not one.

A rule finds candidates and writes messages. This module decides, for all rules alike, whether a candidate becomes a
finding:

1. A loader with enough workers runs it, in a part of its work that the rule considers, and nothing cures the fault
   there.
2. It is certain enough to be reported. A finding that is only possible is one step less severe, and one more step for
   each doubt, that is, each condition that is not known. Code that runs only if a user sets an option is one step less
   severe too, and so is code that only the loaders of tests and tutorials run. Where what always fails comes before all
   of the loaders, it is a hint. Nothing below a hint is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.findings.finding import (
    Certainty,
    Evidence,
    Finding,
    Fix,
    Place,
    SetArgument,
    Severity,
    Silence,
    path_of,
)
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Site
from loaderlint.project.reach.model import Exposure, Loader, Model, Part
from loaderlint.rules.base import Rule
from loaderlint.rules.shared.silence_reasons import silent, unexposed
from loaderlint.rules.shared.unresolved_places import Spot

_About = TypeVar("_About")

#: Why a candidate is not a fault in the workers of a loader: 'its worker_init_fn seeds NumPy'. '' if it is one.
Cure = Callable[[Loader], str]

#: All parts of a loader's work.
EVERYWHERE: tuple[Part, ...] = ("sample", "collate", "init")


def no_cure(_: Loader) -> str:
    """The cure of a fault that has no cure."""
    return ""


class Candidate(Struct, Generic[_About], frozen=True):
    """A fault if workers run it, unless `why_not` says why it is not one.

    - `about`: what the rule has found.
    - `frame`: where it is found.
    - `spot`: the place of the reason if it is not a fault.
    - `cure`: why it is not a fault in the workers of a loader.
    - `why_not`: why it is not a fault at all.
    - `severity`: how bad it is; None for the severity of the rule.
    - `doubts`: how many of its conditions are not known.
    - `unproven`: a value that leads to it may be another one, so the finding is only possible, whatever its loaders.
    - `exposure`: the loaders that run it, where the rule has found them itself.
    - `key`: candidates with the same key are one fault, and one finding. None if it is a fault of its own.
    - `context`: the branch of `frame` that it is in; None if it is the one of `spot`."""

    about: _About
    frame: Frame
    spot: Spot
    cure: Cure = no_cure
    why_not: str = ""
    severity: Severity | None = None
    doubts: int = 0
    unproven: bool = False
    exposure: Exposure | None = None
    key: Hashable = None
    context: int | None = None

    @property
    def branch(self) -> int:
        """The branch of its frame that it is in; 0 for the body, also if that is not known."""
        if self.context is not None:
            return self.context
        return self.spot.context if self.spot.frame is self.frame else 0


class Verdict(Struct, frozen=True):
    """A fault that `rule` reports."""

    rule: str
    severity: Severity
    certainty: Certainty

    def finding(
        self,
        message: str,
        place: Place,
        subject: str,
        evidence: Iterable[Evidence] = (),
        fixes: tuple[Fix, ...] = (),
    ) -> Finding:
        """The finding. The parameters are those of `Finding`."""
        return Finding(self.rule, self.severity, self.certainty, message, place, subject, tuple(evidence), fixes)


UNSET = "it matters only where an option is set: by default, this test rules it out"


class WorkerVerdict(Verdict, Generic[_About], frozen=True):
    """A fault in the workers of the loaders in `exposure`. `about`, `frame` and `spot` are those of the candidate that
    comes first, which messages name; `together` has the `about` of all candidates of the fault. `loaders`: where the
    loaders of a verdict that is only possible are made, see `Finding.loaders`. `unset`: the test that prevents it from
    running until an option is set. `tried_in`: the files of these loaders, if they are all tests or tutorials of code
    that is elsewhere."""

    about: _About
    frame: Frame
    spot: Spot
    exposure: Exposure
    together: tuple[_About, ...]
    loaders: tuple[Place, ...] = ()
    unset: tuple[Place, ...] = ()
    tried_in: frozenset[Path] = frozenset()

    def finding(
        self,
        message: str,
        place: Place,
        subject: str,
        evidence: Iterable[Evidence] = (),
        fixes: tuple[Fix, ...] = (),
    ) -> Finding:
        """As `Verdict.finding`, with the loaders and the option. The fixes are unsafe if it is a guess that a loader
        runs the line: there may be nothing to fix. So is a fix that only changes how tests and tutorials load: the
        loaders that train are elsewhere, and nothing would report them any more."""
        fixes = tuple(replace(fix, safety="unsafe") if self._is_in_doubt(fix) else fix for fix in fixes)
        evidence = (*evidence, *(Evidence(place, UNSET) for place in self.unset))
        return replace(Verdict.finding(self, message, place, subject, evidence, fixes), loaders=self.loaders)

    def _is_in_doubt(self, fix: Fix) -> bool:
        """Whether there may be nothing to fix, or more than this."""
        calls = {path_of(intent) for intent in fix.intents if isinstance(intent, SetArgument)}
        changed = calls or fix.files
        return self.exposure.guessed or bool(self.tried_in) and changed <= self.tried_in

    def lacking(self, frames: Sequence[Frame], model: Model) -> tuple[Place, ...]:
        """Where the loaders are created that run these frames, or where a loader that is not known begins to run each
        of them: `Finding.lacking`."""
        loaders = self.exposure.loaders
        sites = (model.site_place(one.site) for one in loaders if one.site is not None)
        unknown = (one for one in loaders if one.site is None)
        begins = (model.def_place(model.chain(frame, one)[0]) for one in unknown for frame in frames)
        return tuple(dict.fromkeys((*sites, *begins)))

    def why(self, model: Model) -> tuple[Evidence, ...]:
        """The evidence that workers run it."""
        return model.why(self.frame, self.exposure)


class Unsaid(Struct, frozen=True):
    """The `reason` why a rule does not report a fault."""

    reason: str


#: How severe a fault is if the loaders of an exposure run it, or why it is not reported. It gets the candidates, the
#: first one leading.
Weigh = Callable[[Sequence[Candidate[_About]], Exposure], Severity | Unsaid]


def judged(
    rule: Rule,
    candidates: Iterable[Candidate[_About] | Silence],
    model: Model,
    *,
    workers: int | None = None,
    parts: tuple[Part, ...] = EVERYWHERE,
    weigh: Weigh[_About] | None = None,
) -> Iterator[WorkerVerdict[_About] | Silence]:
    """The verdict on each candidate, or why there is none. A `Silence` is passed on.

    A loader counts if it has at least `workers` workers (by default as many as the rule needs) and runs the candidate
    in one of `parts`. `weigh` is for rules whose severity depends on the loaders."""
    least = rule.workers if workers is None else workers
    asked: _Asked[_About] = _Asked(rule, least, parts, weigh or _by_doubts(rule))
    together: dict[Hashable, list[Candidate[_About]]] = {}
    for one in candidates:
        if isinstance(one, Silence):
            yield one
        elif one.key is None or one.why_not:
            yield from _judged([one], asked, model)
        else:
            together.setdefault(one.key, []).append(one)
    for alike in together.values():
        yield from _judged(alike, asked, model)


def judged_first(
    rule: Rule,
    candidates: Iterable[Candidate[_About] | Silence],
    model: Model,
    *,
    parts: tuple[Part, ...] = EVERYWHERE,
    weigh: Weigh[_About] | None = None,
) -> Iterator[WorkerVerdict[_About] | Silence]:
    """As `judged`, but of the candidates with the same key only the first that is a fault is examined. It represents
    the others."""
    asked: _Asked[_About] = _Asked(rule, rule.workers, parts, weigh or _by_doubts(rule))
    said: set[Hashable] = set()
    for one in candidates:
        if isinstance(one, Silence):
            yield one
            continue
        for verdict in _judged([one], asked, model) if one.key not in said else ():
            said.update(() if isinstance(verdict, Silence) else [one.key])
            yield verdict


class _Asked(Struct, Generic[_About], frozen=True):
    """The arguments of `judged`."""

    rule: Rule
    workers: int
    parts: tuple[Part, ...]
    weigh: Weigh[_About]


def _judged(
    alike: Sequence[Candidate[_About]], asked: _Asked[_About], model: Model
) -> Iterator[WorkerVerdict[_About] | Silence]:
    """The verdict on the candidates of one fault."""
    if alike[0].why_not:
        yield from silent(asked.rule.name, alike[0].spot, alike[0].why_not, model)
        return
    found = gathered((one, _exposure(one, asked, model)) for one in alike)
    if found is None:
        yield from _unexposed(alike, asked, model)
        return
    lead, exposure = found[0], _led_by_default(alike, found[1], model)
    certainty: Certainty = "possible" if all(one.unproven for one in alike) else exposure.certainty
    severity = asked.weigh([lead, *(one for one in alike if one is not lead)], replace(exposure, certainty=certainty))
    if isinstance(severity, Unsaid):
        yield from silent(asked.rule.name, lead.spot, severity.reason, model)
        return
    unset = _unset(alike, exposure, model)
    severity = _of_guess(severity, asked.rule, exposure)
    shown = severity if unset is None else severity.lowered(1)
    if shown is None:
        yield from silent(asked.rule.name, lead.spot, UNSET, model)
        return
    tried_in = _tried_in(lead.spot, exposure, model)
    if tried_in and model.shows_use:  # tests are the users of a library without loaders
        shown = shown.lowered(1) or shown
    if all(loader.fails for loader in exposure.loaders):  # no program gets there before somebody mends it
        shown = Severity.HINT
    together = tuple(one.about for one in alike)
    loaders = model.loader_places(exposure) if exposure.certainty == "possible" else ()
    yield WorkerVerdict(
        asked.rule.name,
        shown,
        certainty,
        lead.about,
        lead.frame,
        lead.spot,
        exposure,
        together,
        loaders,
        () if unset is None else (model.site_place(unset),),
        tried_in,
    )


def _tried_in(spot: Spot, exposure: Exposure, model: Model) -> frozenset[Path]:
    """The files that create the loaders of an exposure, if all are tests or tutorials and the code is not there itself:
    findings there are quieter anyway. Else none."""
    paths = {loader.path for loader in exposure.loaders}
    if model.in_test_or_tutorial(spot.frame.path) or not all(map(model.in_test_or_tutorial, paths)):
        return frozenset()
    return frozenset(path for path in paths if path is not None)


def _led_by_default(alike: Sequence[Candidate[_About]], exposure: Exposure, model: Model) -> Exposure:
    """An exposure, led by a loader that runs the fault as long as users set no option, if the first one does not and
    another one that is known as well does."""
    if (
        len(exposure.loaders) == 1
        or exposure.certainty != "proven"
        or not _is_unset(exposure.lead, alike, exposure, model)
    ):
        return exposure
    possible = [reached.possible for one in alike if (reached := model.reached.get(one.frame)) is not None]
    for loader in exposure.loaders[1:]:
        is_as_known = loader.has_workers(2) == "yes" and not (loader.unused or loader.out_of_sight or loader.presumed)
        if is_as_known and not any(bits >> loader.index & 1 for bits in possible):
            if not _is_unset(loader, alike, exposure, model):
                others = (one for one in exposure.loaders if one is not loader)
                return replace(exposure, loaders=(loader, *others))
    return exposure


def _is_unset(loader: Loader, alike: Sequence[Candidate[_About]], exposure: Exposure, model: Model) -> bool:
    return _unset(alike, replace(exposure, loaders=(loader,)), model) is not None


def _unset(alike: Sequence[Candidate[_About]], exposure: Exposure, model: Model) -> Site | None:
    """The test that prevents the fault from running, everywhere that the loaders run it, until an option is set."""
    found: Site | None = None
    for one in alike:
        reached = model.reached.get(one.frame)
        if reached is not None and not any(reached.bits() >> loader.index & 1 for loader in exposure.loaders):
            continue  # only loaders that the fault does not touch run this one
        found = model.off_by_default(one.frame, one.branch, exposure.loaders)
        if found is None:
            return None
    return found


def unset_at(made: Site | None, loader: Loader, model: Model) -> Site | None:
    """The test that, until an option is set, keeps the main process from creating what is made at a site and sent to a
    loader's workers."""
    if made is None or made.expr < 0:
        return None
    return model.unset_option(made.frame, made.frame.code.context_of(made.expr), loader)


def unset_evidence(option: Site | None, model: Model) -> tuple[Evidence, ...]:
    """The evidence that such a test gives."""
    return () if option is None else (Evidence(model.site_place(option), UNSET),)


def _exposure(one: Candidate[_About], asked: _Asked[_About], model: Model) -> Exposure | None:
    if one.exposure is not None:
        return one.exposure
    return model.exposure(
        one.frame, asked.workers, parts=asked.parts, cured=lambda loader: bool(one.cure(loader)), context=one.branch
    )


def gathered(exposures: Iterable[tuple[_About, Exposure | None]]) -> tuple[_About, Exposure] | None:
    """One exposure for several frames: all their loaders, led by the first that is proven (by one with several workers
    if there is one), or else by the first that is not for evaluation. None if no loader runs any of them."""
    found = [(one, exposure) for one, exposure in exposures if exposure is not None]
    if not found:
        return None
    found.sort(key=lambda pair: _rank(pair[1]))  # stable
    lead, first = found[0]
    loaders = dict.fromkeys(loader for _, exposure in found for loader in exposure.loaders)
    guessed = all(exposure.guessed for _, exposure in found)
    return lead, Exposure(tuple(loaders), first.certainty, guessed, first.presumed)


def _rank(exposure: Exposure) -> int:
    if exposure.certainty == "proven":
        return 0 if exposure.lead.has_workers(2) == "yes" else 1
    return 3 if exposure.lead.is_for_evaluation else 2


def _unexposed(alike: Sequence[Candidate[_About]], asked: _Asked[_About], model: Model) -> Iterator[Silence]:
    """Why the fault is in the workers of no loader."""
    if not model.explains:
        return
    place = alike[0].spot.place(model)
    reasons = (unexposed(model, one.frame, asked.workers, parts=asked.parts, cure=one.cure) for one in alike)
    for reason in dict.fromkeys(reasons):
        yield Silence(asked.rule.name, place, reason)


def _by_doubts(rule: Rule) -> Weigh[_About]:
    def weigh(alike: Sequence[Candidate[_About]], exposure: Exposure) -> Severity | Unsaid:
        return lowered(alike[0].severity or rule.severity, exposure, alike[0].doubts)

    return weigh


def lowered(severity: Severity, exposure: Exposure, doubts: int = 0) -> Severity | Unsaid:
    """A severity, lowered by everything that is not certain. Where the project creates loaders, a dataset that none of
    them is known to hold is probably not in use: at most a hint."""
    loud = loudness(severity, exposure.certainty, doubts)
    return as_hint(loud) if exposure.presumed else loud


def as_hint(severity: Severity | Unsaid) -> Severity | Unsaid:
    """A hint instead of any severity. What is not said stays unsaid."""
    return Severity.HINT if isinstance(severity, Severity) else severity


def _of_guess(severity: Severity, rule: Rule, exposure: Exposure) -> Severity:
    """The severity of a finding: at most a hint if the rule follows data, and it is a guess that a loader in sight runs
    the line. A dataset without any loader belongs to a library, whose users create the loaders."""
    is_guess = exposure.guessed and not exposure.lead.out_of_sight
    return Severity.HINT if rule.follows_data and is_guess else severity


def weighed_in(rule: Rule, exposure: Exposure, doubts: int = 0) -> Verdict | Unsaid:
    """The verdict on a fault in the workers of the loaders in `exposure`, or why it is not reported."""
    loud = lowered(rule.severity, exposure, doubts)
    if isinstance(loud, Unsaid):
        return loud
    return Verdict(rule.name, _of_guess(loud, rule, exposure), exposure.certainty)


# --- faults that do not depend on a frame -----------------------------------------------------------------------------


def weighed(rule: Rule, certainty: Certainty, doubts: int = 0, severity: Severity | None = None) -> Verdict | Unsaid:
    """The verdict on a fault that needs no loader to run it, or why it is not reported. `severity` is that of the rule
    unless given."""
    loud = loudness(severity or rule.severity, certainty, doubts)
    return loud if isinstance(loud, Unsaid) else Verdict(rule.name, loud, certainty)


def weighed_for(loader: Loader, verdict: Verdict) -> Verdict:
    """A verdict on a fault of one loader: a hint where what always fails comes before the loader."""
    return replace(verdict, severity=Severity.HINT) if loader.fails else verdict


def undoubted(rule: Rule, certainty: Certainty, severity: Severity | None = None) -> Verdict:
    """As `weighed`, for a fault without doubts that is worse than a hint: it is always reported."""
    loud = loudness(severity or rule.severity, certainty)
    assert not isinstance(loud, Unsaid), "a hint that is only possible is not reported"
    return Verdict(rule.name, loud, certainty)


def certainty_of_workers(loader: Loader) -> Certainty:
    """How certain it is that a loader that may have workers has some."""
    return "proven" if loader.has_workers() == "yes" else "possible"


def loudness(severity: Severity, certainty: Certainty, doubts: int = 0) -> Severity | Unsaid:
    """The severity of a finding: one step lower if it is only possible, and one more for each doubt. Nothing is
    reported below a hint."""
    return severity.lowered(doubts + (1 if certainty == "possible" else 0)) or Unsaid(_too_unsure(certainty))


def _too_unsure(certainty: Certainty) -> str:
    only = "it is only possible, and " if certainty == "possible" else ""
    return f"{only}too much of what it depends on is unknown to report it even as a hint"
