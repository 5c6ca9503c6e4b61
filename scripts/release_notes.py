"""The notes of a release: its section of CHANGELOG.md.

python -m scripts.release_notes v1.2.3

Fails if the tag does not name the version of the package, or if there is no section for it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from loaderlint import __version__

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"
#: Links of the changelog are relative to the repository; those of a release need a full address.
_FILES = "https://github.com/loaderlint/loaderlint/blob"


class NoNotes(Exception):
    """The release cannot be made; the message says why."""


def notes(tag: str, changelog: str, version: str) -> str:
    """The section for `tag` ('v1.2.3') of a changelog. Raises NoNotes if the tag does not name `version`, or if the
    section is missing, empty or still marked as not released."""
    if tag != f"v{version}":
        raise NoNotes(f"the tag is {tag}, the version is {version}: tag v{version}, or raise the version")
    found = re.search(
        rf"^## {re.escape(version)} \((?P<date>[^)]*)\)\n(?P<text>.*?)(?=^## |\Z)", changelog, re.M | re.S
    )
    if found is None or not found["text"].strip():
        raise NoNotes(f"CHANGELOG.md has no section '## {version} (date)'")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", found["date"]):
        raise NoNotes(f"CHANGELOG.md says '{found['date']}' for {version}: write the date")
    return re.sub(r"(?<=\]\()(?!https?:|#)", f"{_FILES}/{tag}/", found["text"].strip()) + "\n"


def main() -> int:
    """The command line: TAG."""
    try:
        sys.stdout.write(notes(sys.argv[1], CHANGELOG.read_text("utf-8"), __version__))
    except NoNotes as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
