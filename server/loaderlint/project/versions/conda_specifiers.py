"""Conda's notation for packages and versions."""

from __future__ import annotations

import re

from loaderlint.project.versions.declaration import Declaration, normal
from loaderlint.project.versions.requirement_specifiers import LONGEST

_SPEC = re.compile(r"(?:[^:\s]*::)?\s*(?P<name>[A-Za-z0-9_][\w.-]*)\s*(?:\[(?P<inside>[^\]]*)\])?\s*(?P<rest>.*)\Z")
_INSIDE = re.compile(r"version\s*=\s*['\"]?([^'\",\]]+(?:,[^'\"=\]]+)*)")
_VERSION = re.compile(r"(\d[\w.+!]*?)(\.?\*)?\Z")


def package(text: str) -> Declaration | None:
    """One package in conda's own way of writing: 'conda-forge::pytorch=1.8', 'pytorch>=1.8,<2', 'python 3.8.*'."""
    match = _SPEC.match(text.split("#")[0].strip()) if len(text) <= LONGEST else None
    if match is None:
        return None
    rest = match["rest"].strip()
    if match["inside"]:
        inside = _INSIDE.search(match["inside"])
        rest = inside[1] if inside else rest
    return Declaration(normal(match["name"]), versions(rest))


def versions(text: str) -> str:
    """Conda's version specifiers as those of PEP 440: one `=` means all that begin so, `|` parts alternatives, and a
    build string says nothing."""
    return " || ".join(part for one in text[:LONGEST].split("|") if (part := _conjunction(one.strip())))


def _conjunction(text: str) -> str:
    return ",".join(part for one in text.split(",") if (part := _one(one.strip())))


def _one(text: str) -> str:
    text = re.sub(r"\s*([=<>!~]+)\s*", r"\1", text).split(" ")[0]  # what is left after a space is the build
    if text.startswith(("==", ">", "<", "!=", "~=")):
        operator = re.match(r"[=<>!~]+", text)
        assert operator is not None
        return operator[0] + text[operator.end() :].split("=")[0]
    fuzzy, _, build = text[text.startswith("=") :].partition("=")
    match = _VERSION.match(fuzzy)
    if match is None:
        return ""
    # `=1.8` is every 1.8.x; `=1.8.1`, a version with a build, and one after a space are one version
    begins = match[2] or (text.startswith("=") and not build and match[1].count(".") < 2)
    return f"=={match[1]}.*" if begins else f"=={match[1]}"
