"""environment.yml: the environments of conda, with the part that pip installs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.project.versions import requirements_txt
from loaderlint.project.versions.conda_specifiers import package
from loaderlint.project.versions.declaration import Declaration, Include
from loaderlint.project.versions.yaml_text import parsed

_ENVIRONMENT = re.compile(r"^dependencies\s*:", re.MULTILINE)


def read(text: str) -> Iterator[Declaration | Include]:
    """What an environment file declares. Other YAML files declare nothing."""
    if _ENVIRONMENT.search(text) is None:
        return
    document = parsed(text)
    entries = document.get("dependencies") if isinstance(document, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            found = package(entry)
            if found is not None:
                yield found
        elif isinstance(entry, dict) and isinstance(entry.get("pip"), list):
            yield from requirements_txt.read("\n".join(str(line) for line in entry["pip"]))
