"""Compares linters on the same files: findings in repositories, and hits and false alarms at labelled places.

python -m benchmarks.precision --loaderlint loaderlint --torchfix FLAKE8 --semgrep SEMGREP --semgrep-rules FOLDER \
    --dslinter PYLINT --ruff RUFF [--labels LABELS.csv] FOLDER

FOLDER contains one repository per subfolder. The options name the executables (flake8 and pylint of environments with
TorchFix and dslinter) and a folder of semgrep rules; a peer that is not named is left out. With labels, the peers are
scored on the family of NumPy's global state, the only one that any of them claims to find: columns `repo, commit, path,
line, family, label, cross_file`, and a subfolder's name is `owner__name@commit` (eight digits of it). Prints a table in
Markdown.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

#: The family of labels that peers claim to find, and the maximum distance of a finding from a label, in lines.
_FAMILY = "np_random_worker"
_TOLERANCE = 3
#: pylint gets this many files at a time.
_FILES_AT_ONCE = 200


class Finding(NamedTuple):
    """One entry of a peer's report; `path` is relative to the repository, `end` is its last line."""

    path: str
    line: int
    end: int
    code: str


@dataclass(frozen=True, slots=True)
class Peer(ABC):
    """A linter. `program`: its executable."""

    program: str

    name: ClassVar[str] = ""
    rules: ClassVar[tuple[str, ...]] = ()
    #: The rules that claim to find duplicate NumPy randomness.
    claims: ClassVar[tuple[str, ...]] = ()

    @property
    def version(self) -> str:
        """The version that it prints, in one line."""
        return _run([self.program, "--version"], Path.cwd()).replace("\n", " ").strip()

    @abstractmethod
    def findings(self, repository: Path) -> Iterator[Finding]:
        """Its findings in a repository."""


class Loaderlint(Peer):
    """This project, for a torch that does not seed NumPy, because the labels of the family are about that."""

    name = "loaderlint (--target-torch 1.8)"
    rules = ("all above hint",)
    claims = ("duplicate-numpy-randomness", "keras-duplicate-randomness")

    def findings(self, repository: Path) -> Iterator[Finding]:
        command = [self.program, "check", "--output-format", "json", "--target-torch", "1.8", "."]
        for one in json.loads(_run(command, repository) or "[]"):
            if one["severity"] != "hint":
                yield Finding(one["path"], one["line"], one["end_line"], one["name"])


class TorchFix(Peer):
    """Its rules about data loading; TOR401 ('set num_workers > 0') is off by default."""

    name = "TorchFix"
    rules = ("TOR104", "TOR105", "TOR401")

    def findings(self, repository: Path) -> Iterator[Finding]:
        command = [self.program, "--isolated", "--jobs", "1", f"--select={','.join(self.rules)}", "."]
        for found in re.finditer(r"(?m)^\./(.+?):(\d+):\d+: (\w+) ", _run(command, repository)):
            yield Finding(found[1], int(found[2]), int(found[2]), found[3])


@dataclass(frozen=True, slots=True)
class Semgrep(Peer):
    """Trail of Bits' rules about data loading, from a local folder."""

    folder: Path

    name = "semgrep, Trail of Bits' rules"
    rules = ("numpy-in-pytorch-datasets", "automatic-memory-pinning")
    claims = ("numpy-in-pytorch-datasets",)

    def findings(self, repository: Path) -> Iterator[Finding]:
        configs = [f"--config={self.folder / rule}.yaml" for rule in self.rules]
        options = ["--metrics=off", "--disable-version-check", "--no-git-ignore", "--json", "--quiet"]
        said = _run([self.program, "scan", *options, *configs, "."], repository)
        for one in json.loads(said)["results"] if said else ():
            yield Finding(one["path"], one["start"]["line"], one["end"]["line"], one["check_id"].rpartition(".")[2])


class Dslinter(Peer):
    """A pylint plugin; the rule requires a worker_init_fn and a generator."""

    name = "dslinter"
    rules = ("W5512",)
    claims = ("W5512",)

    def findings(self, repository: Path) -> Iterator[Finding]:
        files = sorted(str(path.relative_to(repository)) for path in repository.rglob("*.py"))
        options = [
            "--load-plugins=dslinter",
            "--disable=all",
            "--enable=W5512",
            "--persistent=n",
            "--output-format=json",
        ]
        for start in range(0, len(files), _FILES_AT_ONCE):
            said = _run([self.program, *options, *files[start : start + _FILES_AT_ONCE]], repository)
            for one in json.loads(said[said.find("[") :] or "[]"):
                if one["message-id"] in self.rules:
                    yield Finding(one["path"], one["line"], one["endLine"] or one["line"], one["message-id"])


class Ruff(Peer):
    """It has no rule about PyTorch; NPY002 reports every use of NumPy's old functions."""

    name = "ruff"
    rules = ("NPY002",)
    claims = ("NPY002",)

    def findings(self, repository: Path) -> Iterator[Finding]:
        command = [self.program, "check", "--isolated", "--no-cache", "--select=NPY002", "--output-format=json", "."]
        for one in json.loads(_run(command, repository) or "[]"):
            if one["code"] in self.rules:
                path = Path(one["filename"]).relative_to(repository.resolve())
                yield Finding(path.as_posix(), one["location"]["row"], one["end_location"]["row"], one["code"])


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout


# --- labels -----------------------------------------------------------------------------------------------------------


class Label(NamedTuple):
    """A place that people classified: a fault (`is_fault`) or a near miss. `places`: its own, and that of its
    loader."""

    is_fault: bool
    places: tuple[tuple[str, int], ...]


def labels_of(path: Path) -> dict[str, list[Label]]:
    """The labels of the family, by the name of the repository's folder."""
    found: dict[str, list[Label]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["family"] == _FAMILY and int(row["line"] or 0) > 0:
                loader = re.fullmatch(r"(\S+\.py):(\d+)", row["cross_file"])
                places = [(row["path"], int(row["line"])), *([(loader[1], int(loader[2]))] if loader else [])]
                folder = f"{row['repo'].replace('/', '__')}@{row['commit'][:8]}"
                found.setdefault(folder, []).append(Label(row["label"] == "true", tuple(places)))
    return found


def score(labels: Iterable[Label], findings: Sequence[Finding], claims: Sequence[str]) -> Counter[str]:
    """The counts of faults found and missed, and of near misses reported and not. A peer that reports loaders or
    classes is right if it reports the label's loader or class."""
    counted: Counter[str] = Counter()
    for label in labels:
        hit = any(
            one.code in claims and one.path == path and one.line - _TOLERANCE <= line <= one.end + _TOLERANCE
            for one in findings
            for path, line in label.places
        )
        counted[("hit" if hit else "miss") if label.is_fault else ("alarm" if hit else "quiet")] += 1
    return counted


# --- the table --------------------------------------------------------------------------------------------------------


def row_of(peer: Peer, repositories: Sequence[Path], labels: dict[str, list[Label]]) -> str:
    """The row of one peer."""
    said: Counter[str] = Counter()
    scored: Counter[str] = Counter()
    some = 0
    for repository in repositories:
        print(f"{peer.name}: {repository.name}", file=sys.stderr)
        findings = list(dict.fromkeys(peer.findings(repository)))
        said.update(one.code for one in findings)
        some += bool(findings)
        scored += score(labels.get(repository.name, ()), findings, peer.claims)
    rules = ", ".join(f"{code} {number}" for code, number in said.most_common(4)) or ", ".join(peer.rules)
    cells = [peer.name, peer.version, rules, f"{said.total()} in {some}"]
    if labels:
        cells += _scores(scored) if peer.claims else ["claims none", "-", "-"]
    return f"| {' | '.join(cells)} |"


def _scores(scored: Counter[str]) -> list[str]:
    faults, reported = scored["hit"] + scored["miss"], scored["hit"] + scored["alarm"]
    recall = f"{scored['hit']}/{faults} ({scored['hit'] / faults:.2f})" if faults else "-"
    alarms = f"{scored['alarm']}/{scored['alarm'] + scored['quiet']}"
    return [recall, alarms, f"{scored['hit'] / reported:.2f}" if reported else "-"]


def main() -> None:
    """Run the peers and print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--loaderlint")
    arguments.add_argument("--torchfix", help="flake8 of an environment with TorchFix")
    arguments.add_argument("--semgrep")
    arguments.add_argument("--semgrep-rules", type=Path)
    arguments.add_argument("--dslinter", help="pylint of an environment with dslinter")
    arguments.add_argument("--ruff")
    arguments.add_argument("--labels", type=Path)
    arguments.add_argument("folder", type=Path)
    options = arguments.parse_args()
    kinds: list[tuple[str | None, type[Peer]]] = [
        (options.loaderlint, Loaderlint),
        (options.torchfix, TorchFix),
        (options.dslinter, Dslinter),
        (options.ruff, Ruff),
    ]
    peers = [kind(program) for program, kind in kinds if program]
    if options.semgrep and options.semgrep_rules:
        peers.append(Semgrep(options.semgrep, options.semgrep_rules.resolve()))
    labels = labels_of(options.labels) if options.labels else {}
    folders = sorted(path for path in options.folder.resolve().iterdir() if path.is_dir())
    repositories = [path for path in folders if not labels or path.name in labels]
    files = sum(1 for repository in repositories for _ in repository.rglob("*.py"))
    print(f"{len(repositories)} repositories, {files} Python files.\n")
    heads = ["linter", "version", "findings by rule", "findings in repositories"]
    heads += ["faults found", "near misses reported", "precision"] if labels else []
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for peer in peers:
        print(row_of(peer, repositories, labels), flush=True)


if __name__ == "__main__":
    main()
