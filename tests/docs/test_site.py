"""The documentation site has every page, and the links of its pages lead somewhere."""

from __future__ import annotations

import re

import pytest

from scripts import site_pages
from scripts.generate_docs import ROOT

TEXT = (ROOT / "mkdocs.yml").read_text("utf-8")
NAVIGATION = re.findall(r"^ *- (?:[^:\n]+: )?([\w./-]+(?:\.md|/))$", TEXT.partition("\nnav:")[2], re.MULTILINE)


def test_every_page_is_in_the_navigation_once() -> None:
    shown = [page for one in NAVIGATION for page in (site_pages.listed(one) if one.endswith("/") else [one])]
    written = [path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")]
    assert sorted(shown) == sorted([*written, *site_pages.PAGES]), "mkdocs.yml does not list just the pages in docs/"


def test_symptoms_come_first() -> None:
    assert NAVIGATION[0] == "symptoms.md"


@pytest.mark.parametrize(
    ("text", "place", "source", "expected"),
    [
        ("[a](docs/ci.md#top)", "index.md", "README.md", "[a](ci.md#top)"),
        ("![a](docs/images/x.png)", "index.md", "README.md", "![a](docs/images/x.png)"),
        ("![a](docs/images/icon.png)", "index.md", "README.md", "![a](images/icon.png)"),
        ("[a](LICENSE)", "index.md", "README.md", f"[a]({site_pages.BLOB}/LICENSE)"),
        ("[a](../CHANGELOG.md)", "ci.md", "docs/ci.md", "[a](CHANGELOG.md)"),
        ("[a](../../README.md)", "rules/x.md", "docs/rules/x.md", "[a](../index.md)"),
        ("[a](../editors/README.md)", "architecture/x.md", "docs/architecture/x.md", "[a](../editors/README.md)"),
        ("[a](../tests/rules/README.md)", "x.md", "docs/x.md", f"[a]({site_pages.BLOB}/tests/rules/README.md)"),
        ("[a](https://x.org/y) [b](#z)", "x.md", "docs/x.md", "[a](https://x.org/y) [b](#z)"),
    ],
)
def test_links(text: str, place: str, source: str, expected: str) -> None:
    assert site_pages.relinked(text, place, source) == expected


def test_the_folders_in_the_navigation() -> None:
    pages = site_pages.listed([{"Editors": "editors/"}, "ci.md"])
    assert pages[0]["Editors"][0] == "editors/README.md" and "editors/vscode.md" in pages[0]["Editors"]
    assert pages[1] == "ci.md"
