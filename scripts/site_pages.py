"""An mkdocs hook: adds the pages of the site that are not in docs/, and adapts links to files outside docs/."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: The pages by their place in the site, with their files in the repository.
PAGES = {
    "index.md": "README.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "SECURITY.md": "SECURITY.md",
}
BLOB = "https://github.com/loaderlint/loaderlint/blob/main"
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")


def on_config(config: Any) -> Any:
    """Replace the names of folders ('rules/') in the navigation by their pages."""
    config.nav = listed(config.nav)
    return config


def listed(nav: Any) -> Any:
    """The navigation with the pages of folders; the index page of a folder comes first."""
    if isinstance(nav, dict):
        return {title: listed(inner) for title, inner in nav.items()}
    if isinstance(nav, list):
        return [listed(inner) for inner in nav]
    if not nav.endswith("/"):
        return nav
    names = sorted(path.name for path in (ROOT / "docs" / nav).glob("*.md"))
    return [f"{nav}{name}" for name in sorted(names, key=lambda name: name != "README.md")]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File

    for place, name in PAGES.items():
        text = (ROOT / name).read_text("utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page with working links to files of the repository."""
    place = page.file.src_uri
    return relinked(markdown, place, PAGES.get(place, f"docs/{place}"))


def relinked(markdown: str, place: str, source: str) -> str:
    """The text of the page at `place` of the site, from the file `source`. Links to files that are pages lead to these
    pages; links to other files of the repository lead to GitHub."""
    pages = {name: place for place, name in PAGES.items()}

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(source).parent / found[1]).replace(os.sep, "/")
        if target in pages:
            other = pages[target]
        elif target.startswith("docs/") and (ROOT / target).is_file():
            other = target.removeprefix("docs/")
        elif (ROOT / target).exists():
            return f"{BLOB}/{target}"
        else:
            return found[1]
        return os.path.relpath(other, PurePosixPath(place).parent).replace(os.sep, "/")

    return _LINK.sub(link, markdown)
