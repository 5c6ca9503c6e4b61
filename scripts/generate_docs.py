"""Write the generated parts of the documentation: docs/rules/, docs/truth.md, docs/symptoms.md, the output of commands
in docs/explain.md and docs/upgrading.md; the server's messages in docs/editors/protocol.md; the rules in the settings
of package.json, and the JSON schema of the settings.

python -m scripts.generate_docs            writes
python -m scripts.generate_docs --check    writes nothing; exit code 1 and a list if something is stale
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path

from loaderlint import cli
from loaderlint.findings.finding import Severity
from loaderlint.knowledge import symptoms
from loaderlint.knowledge.wrappers import WRAPPERS, LoaderKind
from loaderlint.report.exit_codes import FAILED
from loaderlint.rules import RULES
from loaderlint.rules.base import Rule
from loaderlint.settings import settings
from scripts import libraries_page, protocol_page, settings_schema, truth_tables
from scripts.rule_lines import line

ROOT = Path(__file__).resolve().parents[1]
PAGES = Path("docs/rules")
GENERATED = "<!-- Written by scripts/generate_docs.py from the rule's docstring; change it there. -->"
GENERATED_TRUTH = "<!-- Written by scripts/generate_docs.py from tests/truth/verdicts. -->"

#: Pages with the output of commands that run in the folder of the example.
WITH_OUTPUTS = (Path("docs/explain.md"),)
EXAMPLE = ROOT / "examples"
_OUTPUT = re.compile(r"<!-- begin: loaderlint (?P<command>[^\n]+) -->\n.*?<!-- end -->", re.DOTALL)

#: A page of small projects with the output of commands that run on them.
WITH_COMPARISONS = Path("docs/upgrading.md")
_COMPARISON = re.compile(
    r"(?P<project>```toml\n(?P<settings>[^`]+)```\n\n```python\n(?P<code>[^`]+)```\n\n)"
    r"<!-- begin: loaderlint (?P<command>[^\n]+) -->\n.*?<!-- end -->",
    re.DOTALL,
)

GENERATED_WRAPPERS = "<!-- Written by scripts/generate_docs.py from server/loaderlint/knowledge/wrappers.py. -->"
GENERATED_LIBRARIES = "<!-- Written by scripts/generate_docs.py from the summaries that come with loaderlint. -->"
CASES = "../tests/wrappers"
WRAPPERS_INTRODUCTION = """\
loaderlint knows the libraries below that create, wrap or prepare loaders, and what each does to its workers in which
version. It follows your own functions and classes that create loaders if their code is in the project; you can declare
others in the [settings](configuration.md#loaders). None of these libraries gives a new state to your own generator
objects (`np.random.default_rng()`, `random.Random()`) on the dataset."""

GENERATED_SYMPTOMS = "<!-- Written by scripts/generate_docs.py from server/loaderlint/knowledge/symptoms.toml. -->"
SYMPTOMS_INTRODUCTION = """\
This page lists what you see in the terminal (or do not see), its cause, and what to do. If loaderlint can find the
cause in the code, the rule is named: run `loaderlint check`, or `loaderlint explain RULE` for its page. If no linter
can find it, the cure is here.

If there is a message in the terminal, let this command look it up. It also finds the line in your project:

```console
python train.py 2>&1 | loaderlint diagnose
```

Or search this page for a piece of your message. In a worker the message is wrapped: `Caught ValueError in DataLoader
worker process 0.`, with the worker's own traceback below it."""

#: The families of rules by the first digit of their codes.
FAMILIES = {
    "0": "The checks themselves",
    "1": "Randomness",
    "2": "Threads and processes",
    "3": "Pickling and handles",
    "4": "Arrays, memory, state",
    "5": "Dataset protocol",
    "6": "Loader arguments",
}

#: The values of `Rule.needs`, as text.
NEEDS = {
    "W2": "a loader with two workers or more",
    "W1": "a loader with at least one worker",
    "L": "any loader, also without workers",
    "M": "the main-process code around a loader",
}


#: The explanation of the last column of the table.
SAFETY = """\
A *safe* fix causes no new failure under any start method, wrapper or version in range; `--fix` applies it (to hints
with `--hints`). An *unsafe* fix involves a guess; it is offered, and applied with `--unsafe-fixes`. Fixes are written
to files of the project only, each in one step: see [what fixes write](../configuration.md#what-fixes-write)."""


def files(root: Path) -> dict[Path, str]:
    """Every generated file by its path from `root`, with the text that it should have."""
    pages = {PAGES / f"{rule.name}.md": page(rule) for rule in RULES}
    manifest = settings_schema.manifest((root / "package.json").read_text("utf-8"))
    truth = truth_tables.page(ROOT, [(rule.code, rule.name) for rule in RULES])
    return {
        **pages,
        PAGES / "README.md": index(),
        Path("docs/truth.md"): f"{GENERATED_TRUTH}\n{truth}",
        Path("docs/wrappers.md"): wrappers_page(),
        Path("docs/libraries.md"): libraries_page.page(GENERATED_LIBRARIES),
        Path("docs/symptoms.md"): symptoms_page(),
        Path("docs/editors/protocol.md"): protocol_page.written(root),
        Path("package.json"): manifest,
        Path("docs/loaderlint.schema.json"): settings_schema.schema(manifest),
        **{
            path: with_comparisons((root / path).read_text("utf-8"))
            for path in (WITH_COMPARISONS,)
            if (root / path).exists()
        },
        **{path: with_outputs((root / path).read_text("utf-8")) for path in WITH_OUTPUTS if (root / path).exists()},
    }


def page(rule: Rule) -> str:
    """A rule's page: its docstring, with a line of facts under the heading and the measured results."""
    heading, _, rest = rule.page.strip().partition("\n")
    facts = [f"Severity: **{rule.severity.value}**", f"needs {NEEDS.get(rule.needs, rule.needs)}", f"fix: {_fix(rule)}"]
    if not rule.enabled_by_default:
        facts.append("off by default")
    body, references, links = rest.strip().partition("## References")
    measured = truth_tables.section(ROOT, rule.name)
    body = f"{body}{measured}\n" if measured else body
    return f"{GENERATED}\n{heading}\n\n{', '.join(facts)}.\n\n{body}{references}{links}\n"


def symptoms_page() -> str:
    """The page that leads from a symptom to the rule or the cure."""
    lines = [GENERATED_SYMPTOMS, "# From the symptom to the cause", "", SYMPTOMS_INTRODUCTION]
    for section in symptoms.sections():
        lines += ["", f"## {section.title}", "", f"| {section.first} | cause | rule or cure |", "|---|---|---|"]
        for one in section.symptoms:
            lines.append(f"| {one.shown} | {one.cause} | {one.cure_with('[{}](rules/{}.md)')} |")
    return "\n".join((*lines, ""))


def wrappers_page() -> str:
    """The page of the known wrappers: what they do to workers, and the calls that make loaders."""
    libraries = [f"| {one.title} | {one.does} | {one.read} | [cases]({CASES}/{one.slug}.md) |" for one in WRAPPERS]
    calls = [_call_row(kind) for one in WRAPPERS for kind in one.kinds]
    return "\n".join(
        [
            GENERATED_WRAPPERS,
            "# Wrappers",
            "",
            WRAPPERS_INTRODUCTION,
            "",
            "## What they do to workers",
            "",
            "| library | what it does to workers | read in the source of | |",
            "|---|---|---|---|",
            *libraries,
            "",
            "## Calls that make a loader",
            "",
            "The defaults of each call. 'Seeds NumPy' says whether the wrapper itself does so, with every",
            "version of torch. From 1.9 on, torch seeds NumPy in any case.",
            "",
            "| call | workers | persistent | seeds NumPy | in earlier versions |",
            "|---|---|---|---|---|",
            *calls,
            "",
        ]
    )


def _call_row(kind: LoaderKind) -> str:
    workers = "not fixed" if "num_workers" in kind.open_defaults else dict(kind.defaults).get("num_workers", 0)
    lives = "yes" if kind.persistent or dict(kind.defaults).get("persistent_workers") else "no"
    seeds = "yes" if kind.seeds_numpy else "no"
    earlier = "; ".join(f"before {change.version}: {change.words}" for change in kind.changes)
    return f"| `{kind.name}` | {workers} | {lives} | {seeds} | {earlier} |"


def index() -> str:
    """The page that lists all rules: by code, by family, by severity."""
    families = "\n\n".join(
        f"### {number} {title}\n\n{_links(rule for rule in RULES if rule.code[3] == number)}"
        for number, title in FAMILIES.items()
    )
    severities = "\n\n".join(
        f"### {severity.value}\n\n{_links(rule for rule in RULES if rule.severity is severity)}"
        for severity in Severity
        if any(rule.severity is severity for rule in RULES)
    )
    return (
        f"{GENERATED}\n# Rules\n\n## By code\n\n{table()}\n\n{SAFETY}\n\n## By family\n\n{families}\n\n"
        "## By severity\n\nThe highest severity of each rule. A finding that is only possible, or depends on something "
        f"unknown, is less severe.\n\n{severities}\n"
    )


def _links(rules: Iterable[Rule]) -> str:
    """A list of links to the pages of rules."""
    return "\n".join(f"- [{rule.name}]({rule.name}.md) ({rule.code}){_off(rule)}" for rule in rules)


def _off(rule: Rule) -> str:
    return "" if rule.enabled_by_default else " (off by default)"


def with_outputs(text: str) -> str:
    """A page with the current output of each command between its marks."""
    return _OUTPUT.sub(lambda block: _with_output(block["command"]), text)


def _with_output(command: str) -> str:
    """The marks, with the command and its output in between. Raises RuntimeError if it fails."""
    code, output = _printed(EXAMPLE, shlex.split(command))
    if code != 0:
        raise RuntimeError(f"'loaderlint {command}' ends with exit code {code}")
    shown = command.partition(" --platforms")[0]  # this flag only makes the output machine-independent
    return f"<!-- begin: loaderlint {command} -->\n```\n$ loaderlint {shown}\n{output}```\n<!-- end -->"


def with_comparisons(text: str) -> str:
    """A page with the current output of each command after its small project."""
    return _COMPARISON.sub(_with_comparison, text)


def _with_comparison(found: re.Match[str]) -> str:
    """The project and the output of the command on it. Raises RuntimeError if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pyproject.toml").write_text(found["settings"], "utf-8")
        Path(folder, "train.py").write_text(found["code"], "utf-8")
        code, output = _printed(Path(folder), [*shlex.split(found["command"]), "--no-cache"])
    if code == FAILED:
        raise RuntimeError(f"'loaderlint {found['command']}' ends with exit code {code}")
    begin = f"<!-- begin: loaderlint {found['command']} -->"
    return f"{found['project']}{begin}\n```\n$ loaderlint {found['command']}\n{output.rstrip()}\n```\n<!-- end -->"


def _printed(folder: Path, arguments: list[str]) -> tuple[int, str]:
    """The exit code and the output of loaderlint in a folder."""
    printed = io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    settings.clear()
    try:
        with redirect_stdout(printed):
            code = cli.main(arguments)
    finally:
        os.chdir(before)
    return code, printed.getvalue()


def table() -> str:
    """The rules as a Markdown table with links to their pages."""
    rows = [
        f"| [{rule.code}]({rule.name}.md) | `{rule.name}` | {_cell(line(rule))}{_off(rule)} | {_fix(rule)} |"
        for rule in RULES
    ]
    return "\n".join(["| code | name | what it finds | fix |", "|---|---|---|---|", *rows])


def stale(root: Path, wanted: Mapping[Path, str]) -> list[str]:
    """The paths of generated files that differ from the wanted ones (see `files`), or should not exist."""
    wrong = [path for path, text in wanted.items() if not _equals(root / path, text)]
    extra = [path.relative_to(root) for path in (root / PAGES).glob("*.md") if path.relative_to(root) not in wanted]
    return sorted(path.as_posix() for path in (*wrong, *extra))


def write(root: Path, wanted: Mapping[Path, str]) -> None:
    """Write the wanted files (see `files`), and remove the pages of rules that no longer exist."""
    for path in (root / PAGES).glob("*.md"):
        if path.relative_to(root) not in wanted:
            path.unlink()
    for path, text in wanted.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="\n")


def _equals(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text("utf-8") == text


def _fix(rule: Rule) -> str:
    return rule.fix or "none"


def _cell(text: str) -> str:
    text = re.sub(r"\s+", " ", text).replace("|", "\\|").strip().removeprefix("Finds ")
    return text[:1].upper() + text[1:]


def main() -> int:
    """Write the files, or check them with --check. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Write the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    if not parser.parse_args().check:
        write(ROOT, files(ROOT))
        return 0
    wrong = stale(ROOT, files(ROOT))
    for path in wrong:
        print(f"{path} is stale; run: make docs", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
