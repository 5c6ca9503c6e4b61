"""The version constraints of Poetry and Pipenv: tables of packages, with `^`, `~`, `*` and `||`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from loaderlint.project.versions.declaration import Declaration, is_aside, normal
from loaderlint.project.versions.requirement_specifiers import linked_file

_CLAUSE = re.compile(r"(\^|~=|~|[=<>!]+)?\s*([\w.*+!-]+)")
_MARKERS = ("python", "platform", "sys_platform", "platform_machine", "os_name", "platform_system")


def table(packages: object, aside: bool = False) -> Iterator[Declaration]:
    """A table of packages and what is wanted of them: a constraint, a table with `version` and markers, or several such
    tables."""
    for name, wanted in packages.items() if isinstance(packages, Mapping) else ():
        for one in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(one, str):
                yield Declaration(normal(name), constraint(one), "", aside)
            elif isinstance(one, Mapping):
                yield _from_table(normal(name), one, aside)


def groups(found: object) -> Iterator[Declaration]:
    """`[tool.poetry.group.NAME.dependencies]`."""
    for name, group in found.items() if isinstance(found, Mapping) else ():
        if isinstance(group, Mapping):
            yield from table(group.get("dependencies"), is_aside(name))


def constraint(text: str) -> str:
    """A constraint as PEP 440 specifiers: '^1.8' is '>=1.8,<2'."""
    return " || ".join(part for one in text.split("||") if (part := _conjunction(one)))


def _conjunction(text: str) -> str:
    return ",".join(part for match in _CLAUSE.finditer(text) if (part := _clause(match[1] or "", match[2])))


def _clause(operator: str, version: str) -> str:
    if version == "*":
        return ""
    numbers = re.match(r"\d{1,9}(?:\.\d{1,9})*(?!\d)", version)
    if operator in ("^", "~") and numbers is not None:
        parts = [int(part) for part in numbers[0].split(".")]
        return f">={version},<{_above(operator, parts)}"
    if operator in ("", "="):
        return f"=={version}"
    return operator + version


def _above(operator: str, parts: list[int]) -> str:
    """The first version that is too new: `^` keeps the first number that is not 0, `~` the first two."""
    if operator == "~":
        kept = min(2, len(parts))
    else:
        kept = next((index + 1 for index, part in enumerate(parts) if part), len(parts))
    return ".".join(str(part) for part in (*parts[: kept - 1], parts[kept - 1] + 1))


def _from_table(name: str, wanted: Mapping[str, object], aside: bool) -> Declaration:
    markers = [str(wanted["markers"])] if wanted.get("markers") else []
    markers += [_marker(key, str(wanted[key])) for key in _MARKERS if wanted.get(key)]
    marker = " and ".join(f"({one})" for one in markers if one)
    version = wanted.get("version")
    if isinstance(version, str):
        return Declaration(name, constraint(version), marker, aside)
    url = wanted.get("url") or wanted.get("file") or wanted.get("path")
    linked = linked_file(str(url)) if url else None
    return Declaration(name, linked.versions if linked else "", marker, aside)


def _marker(key: str, value: str) -> str:
    """`python = "^3.8"` and `sys_platform = "== 'win32'"` as markers."""
    if key == "python":
        clauses = [re.match(r"([=<>!~]+)(.+)", one.strip()) for one in constraint(value).split(",") if "||" not in one]
        return " and ".join(f'python_full_version {one[1]} "{one[2]}"' for one in clauses if one)
    if key == "platform":
        return f'sys_platform == "{value}"'
    return f"{key} {value}"
