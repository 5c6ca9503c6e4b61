"""Write what the documentation takes from the rules: docs/rules/ and the table in README.md.

python scripts/generate_docs.py            writes
python scripts/generate_docs.py --check    writes nothing; exit code 1 and a list if something is stale
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from loaderlint.rules import RULES
from loaderlint.rules.base import Rule

ROOT = Path(__file__).resolve().parents[1]
PAGES = Path("docs/rules")
BEGIN, END = "<!-- rules: begin -->", "<!-- rules: end -->"
GENERATED = "<!-- Written by scripts/generate_docs.py from the rule's docstring; change it there. -->"

#: What `Rule.needs` means.
NEEDS = {
    "W2": "a loader with two workers or more",
    "W1": "a loader with at least one worker",
    "L": "any loader, also without workers",
    "M": "the main-process code around a loader",
}


def files(root: Path) -> dict[Path, str]:
    """Every generated file by its path from `root`, with the text that it should have."""
    pages = {PAGES / f"{rule.name}.md": page(rule) for rule in RULES}
    return {**pages, PAGES / "README.md": index(), Path("README.md"): readme((root / "README.md").read_text("utf-8"))}


def page(rule: Rule) -> str:
    """A rule's page: its docstring with a line of facts under the heading."""
    heading, _, rest = rule.page.strip().partition("\n")
    facts = [f"Severity: **{rule.severity.value}**", f"needs {NEEDS.get(rule.needs, rule.needs)}", f"fix: {_fix(rule)}"]
    if not rule.enabled_by_default:
        facts.append("off by default")
    return f"{GENERATED}\n{heading}\n\n{', '.join(facts)}.\n\n{rest.strip()}\n"


def index() -> str:
    """The page that lists all rules."""
    return f"{GENERATED}\n# Rules\n\n{table('')}\n"


def readme(text: str) -> str:
    """README.md with the table between its two marks. Raises ValueError if it has no marks."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"README.md has no '{BEGIN}' and '{END}'")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table('docs/rules/')}\n{END}{rest.partition(END)[2]}"


def table(folder: str) -> str:
    """The rules as a Markdown table whose links point into `folder`."""
    rows = [
        f"| [{rule.code}]({folder}{rule.name}.md) | `{rule.name}` | {_cell(rule.summary)} | {_fix(rule)} |"
        for rule in RULES
    ]
    return "\n".join(["| code | name | what it finds | fix |", "|---|---|---|---|", *rows])


def stale(root: Path) -> list[str]:
    """The paths of generated files that are not as they should be, or should not be there."""
    wanted = files(root)
    wrong = [path for path, text in wanted.items() if not _equals(root / path, text)]
    extra = [path.relative_to(root) for path in (root / PAGES).glob("*.md") if path.relative_to(root) not in wanted]
    return sorted(path.as_posix() for path in (*wrong, *extra))


def write(root: Path) -> None:
    """Write all generated files and remove the pages of rules that are gone."""
    wanted = files(root)
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
    """Write, or check."""
    parser = argparse.ArgumentParser(description="Write the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    if not parser.parse_args().check:
        write(ROOT)
        return 0
    wrong = stale(ROOT)
    for path in wrong:
        print(f"{path} is stale; run: make docs", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
