"""cog.yaml: the container of a model, as many research repositories have one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loaderlint.project.versions import requirements_txt
from loaderlint.project.versions.declaration import Declaration, Include
from loaderlint.project.versions.yaml_text import parsed


def read(text: str) -> Iterator[Declaration | Include]:
    """What a cog.yaml declares under `build`."""
    document = parsed(text)
    build = document.get("build") if isinstance(document, Mapping) else None
    if not isinstance(build, Mapping):
        return
    packages = build.get("python_packages")
    if isinstance(packages, list):
        yield from requirements_txt.read("\n".join(str(line) for line in packages))
    if isinstance(build.get("python_requirements"), str):
        yield Include(build["python_requirements"])
    if isinstance(build.get("python_version"), str):
        yield Declaration("python", build["python_version"])
