"""setup.cfg, and setup.py read as text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from loaderlint.project.versions.declaration import Declaration, Include, Malformed, is_aside, of_classifier, of_extras
from loaderlint.project.versions.requirement_specifiers import requirement

_REQUIREMENT_FILE = re.compile(r"[\w./-]*require[\w./-]*\.(?:txt|in)\Z")
#: setup.py's arguments that hold lists of strings which are no requirements of the project.
_NOT_MEANT = ("keywords", "packages", "py_modules", "scripts", "entry_points", "setup_requires")
_PYTHON = re.compile(r"python_?requires|requires_?python")
_LONGEST, _LONGEST_PATH = 200_000, 300


def read_cfg(text: str) -> Iterator[Declaration | Include]:
    """What a setup.cfg declares. Raises Malformed."""
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise Malformed(f"is not a valid INI file: {' '.join(str(error).split())}") from error
    if parser.has_section("metadata"):
        listed = parser["metadata"].get("classifiers", parser["metadata"].get("classifier", ""))
        yield from filter(None, (of_classifier(line.strip()) for line in listed.splitlines()))
    always: list[Declaration] = []
    if parser.has_section("options"):
        options = parser["options"]
        needed = list(_lines(options.get("install_requires", ""), False))
        yield from needed
        always = [one for one in needed if isinstance(one, Declaration)]
        yield from _lines(options.get("tests_require", ""), True)
        if options.get("python_requires"):
            yield Declaration("python", options["python_requires"])
    if parser.has_section("options.extras_require"):
        for name, lines in parser["options.extras_require"].items():
            for found in _lines(lines, is_aside(name)):
                yield from of_extras((found,), always) if isinstance(found, Declaration) else (found,)


def _lines(text: str, aside: bool) -> Iterator[Declaration | Include]:
    if text.strip().startswith("file:"):
        yield from (Include(path.strip(), aside=aside) for path in text.strip()[5:].split(","))
        return
    for line in text.splitlines():
        found = requirement(line.split(" #")[0].strip(), aside)
        if found is not None:
            yield found


def read_py(text: str) -> Iterator[Declaration | Include]:
    """What the lists of strings in a setup.py look like, and the requirement files that it names. Raises Malformed
    for a long file; one that Python cannot read is reported as any other source."""
    if len(text) > _LONGEST:
        raise Malformed(f"has more than {_LONGEST:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escape sequences in what others wrote
            found = list(_found_in(ast.parse(text), ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from found


def _found_in(node: ast.AST, within: str) -> Iterator[Declaration | Include]:
    """`within`: the names of the arguments, variables and dictionary keys around the node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _string(node.value, within)
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.keyword) and node.arg:
        if node.arg in _NOT_MEANT:
            return
        within = f"{within} {node.arg}"
    if isinstance(node, ast.Assign):
        within = " ".join([within, *(ast.unparse(target) for target in node.targets)])
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            name = str(key.value) if isinstance(key, ast.Constant) else ""
            yield from _found_in(value, f"{within} {name}")
        return
    for child in ast.iter_child_nodes(node):
        yield from _found_in(child, within)


def _string(text: str, within: str) -> Iterator[Declaration | Include]:
    aside = is_aside(within)
    if " :: " in text:
        platform = of_classifier(text)
        yield from [platform] if platform else []
        return
    if _PYTHON.search(within.lower()) and text.strip()[:1] in "=<>~":
        yield Declaration("python", text)
    elif len(text) <= _LONGEST_PATH and _REQUIREMENT_FILE.match(text):
        yield Include(text, aside=aside)
    elif "require" in within.lower() or "extras" in within.lower() or re.search(r"[=<>~]=", text):
        for line in text.splitlines():
            found = requirement(line.strip(), aside)
            if found is not None:
                yield found
