"""The results of `loaderlint audit` for a project's loaders, and what they mean for its findings.

A finding is *confirmed* if an audit saw its fault happen at one of its lines. A finding that is only possible is
*refuted* if audits of all its loaders saw two workers and two epochs draw at one of its lines, and no two of them drew
the same. Both hold as long as no file that the audited program loaded has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

#: A line of a file, counted from 1: the path of the file as text.
Line = tuple[str, int]

#: The rules whose possible findings can be refuted. Their faults do not depend on the version of PyTorch, show in the
#: first draws, and happen under fork if at all, because forked workers begin with copies of everything.
REFUTABLE = frozenset({"common-seed-in-workers", "reseed-per-sample", "shared-generator"})

#: Descriptions of what an audit has seen, by the check that saw it.
_SEEN = MappingProxyType(
    {
        "workers-draw-alike": "workers drew the same numbers",
        "epochs-draw-alike": "epochs drew the same numbers",
        "samples-reseed": "samples drew the same numbers",
        "samples": "the workers raised this",
        "hanging": "a worker waited here for ever",
        "pickling": "this could not be sent to the workers",
        "items": "items came more than once",
        "epochs": "a later epoch gave no items",
    }
)


class Fault(msgspec.Struct, frozen=True):
    """A fault that an audit saw at these `lines`. `check`: the check that saw it; `rule`: the rule about it, None if
    there is none."""

    check: str
    rule: str | None
    lines: tuple[Line, ...]


class Audit(msgspec.Struct, frozen=True):
    """The audit of one loader. It holds no code and no data.

    `program`: what was run; `arguments`: a digest of its arguments. `made`: the line that made the loader, and the
    lines of its callers. `files`: a digest (`content_digest`) of each file that the program loaded. `drew`: the lines
    at which two workers and two epochs drew random numbers, none of which were alike."""

    program: str
    arguments: str
    made: tuple[Line, ...]
    workers: int
    epochs: int
    batches: int
    method: str
    torch: str
    python: str
    files: dict[str, str]
    faults: tuple[Fault, ...]
    drew: tuple[Line, ...]

    @property
    def described(self) -> str:
        """'audit of train.py: 2 workers (fork), 2 epochs of at most 8 batches, Python 3.12.1, torch 2.4.1'."""
        count = f"{self.workers} worker{'' if self.workers == 1 else 's'}"
        batches = f"{self.epochs} epochs of at most {self.batches} batches"
        versions = f"Python {self.python}, torch {self.torch}"
        return f"audit of {self.program}: {count} ({self.method}), {batches}, {versions}"


class Confirmed(NamedTuple):
    """An audit saw the fault of a finding. `text`: the message about that."""

    text: str


class Refuted(NamedTuple):
    """Audits saw that a possible finding is not a fault. `reason`: the message about that."""

    reason: str


class Audits(Struct, frozen=True):
    """The audits of a project. `holds`: whether an audit is still valid for the present files."""

    known: tuple[Audit, ...]
    holds: Callable[[Audit], bool]

    def verdict(self, diagnostic: Diagnostic, loaders: Iterable[Line]) -> Confirmed | Refuted | None:
        """The verdict of the audits on a finding; None if there is none. `loaders`: the lines that make the loaders of
        a possible finding, empty if they are not known."""
        for audit, fault in self._seen(diagnostic):
            if self.holds(audit):
                return Confirmed(f"{_SEEN.get(fault.check, 'it happened')} in the {audit.described}")
        return self._refuted(diagnostic, tuple(loaders))

    def _seen(self, diagnostic: Diagnostic) -> Iterator[tuple[Audit, Fault]]:
        """The faults that audits saw at a line of the finding."""
        lines: frozenset[Line] | None = None
        for audit in self.known:
            for fault in audit.faults:
                if fault.rule == diagnostic.name:
                    lines = lines or lines_of(diagnostic)
                    if not lines.isdisjoint(fault.lines):
                        yield audit, fault

    def _refuted(self, diagnostic: Diagnostic, loaders: tuple[Line, ...]) -> Refuted | None:
        if diagnostic.name not in REFUTABLE or not loaders:
            return None
        lines = lines_of(diagnostic)
        proof: Audit | None = None
        for loader in loaders:
            own = [audit for audit in self.known if loader in audit.made]
            drew = [audit for audit in own if audit.method == "fork" and not lines.isdisjoint(audit.drew)]
            if not drew or any(fault.rule in REFUTABLE for audit in own for fault in audit.faults):
                return None
            if not all(map(self.holds, own)):
                return None
            proof = proof or drew[0]
        assert proof is not None, "there is a loader"
        return Refuted(f"no two workers and no two epochs drew the same numbers in the {proof.described}")


def lines_of(diagnostic: Diagnostic) -> frozenset[Line]:
    """All lines of a finding and of its evidence."""
    spans = [(diagnostic.path, diagnostic.span), *((note.path, note.span) for note in diagnostic.evidence)]
    return frozenset((str(path), line + 1) for path, span in spans for line in range(span.line, span.end_line + 1))


def loaded(data: bytes, root: Path) -> tuple[Audit, ...]:
    """The audits in bytes. Raises msgspec.DecodeError for other bytes."""
    return tuple(_moved(audit, lambda path: str(root / path)) for audit in _DECODER.decode(data).audits)


def dumped(audits: Iterable[Audit], root: Path) -> bytes:
    """Audits as JSON; paths below the project's `root` are relative to it."""

    def relative(path: str) -> str:
        return Path(path).relative_to(root).as_posix() if Path(path).is_relative_to(root) else path

    kept = _Kept(_VERSION, tuple(_moved(audit, relative) for audit in audits))
    return msgspec.json.format(msgspec.json.encode(kept), indent=1)


_VERSION = 1


class _Kept(msgspec.Struct, frozen=True):
    version: int
    audits: tuple[Audit, ...]


_DECODER = msgspec.json.Decoder(_Kept)


def _moved(audit: Audit, path_of: Callable[[str], str]) -> Audit:
    """The same audit with other paths."""

    def lines(those: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple((path_of(path), line) for path, line in those)

    return msgspec.structs.replace(
        audit,
        made=lines(audit.made),
        files={path_of(path): digest for path, digest in audit.files.items()},
        faults=tuple(msgspec.structs.replace(fault, lines=lines(fault.lines)) for fault in audit.faults),
        drew=lines(audit.drew),
    )
