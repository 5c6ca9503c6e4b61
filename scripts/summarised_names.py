"""Resolves dotted names in a summary: where a name is defined, and its aliases."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

#: The maximum depth of inheritance that is followed.
_MOST_BASES = 40


@dataclass(frozen=True)
class Definition:
    """The definition of a name: its full name, with the class or function if it belongs to the library."""

    name: str
    node: ast.ClassDef | ast.FunctionDef | None


class SummarisedNames:
    """The names of one release. `modules`: the text of each by its path."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._bound: dict[str, dict[str, ast.AST]] = {}
        self._stars: dict[str, list[str]] = {}
        self._packages: set[str] = set()
        self._found: dict[str, Definition | None] = {}
        for path, text in modules.items():
            name = path.removesuffix(".py").replace("/", ".")
            is_package = name.endswith(".__init__")
            self._read(name.removesuffix(".__init__"), is_package, ast.parse(text))

    def _read(self, module: str, is_package: bool, tree: ast.Module) -> None:
        if is_package:
            self._packages.add(module)
        bound: dict[str, ast.AST] = {}
        stars: list[str] = []
        for node in _statements(tree.body):
            match node:
                case ast.ImportFrom(inner, names, level):
                    full = _absolute(module, is_package, inner, level or 0)
                    for one in names:
                        if one.name == "*":
                            stars.append(full)
                        else:
                            bound.setdefault(one.asname or one.name, _reference(f"{full}.{one.name}"))
                case ast.Import(names):
                    for one in names:
                        if one.asname:
                            bound.setdefault(one.asname, _reference(one.name))
                case ast.ClassDef(name) | ast.FunctionDef(name):
                    bound[name] = node
                case ast.Assign(targets, value):
                    bound.update({one.id: value for one in targets if isinstance(one, ast.Name)})
        self._bound[module], self._stars[module] = bound, stars

    def bound_in(self, module: str) -> list[str]:
        """The names that a module binds, without those of its star imports."""
        return sorted(self._bound.get(module, ()))

    def definition(self, name: str) -> Definition | None:
        """The definition that a dotted name leads to: a class or function of the library, or something outside of it
        (`node` is None). None if it leads nowhere."""
        if name not in self._found:
            self._found[name] = None  # during the search, because modules may star-import each other
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Definition | None:
        module, _, last = name.rpartition(".")
        if module not in self._bound:
            is_own = name.partition(".")[0] in self._bound
            return self._member(module, last) if is_own else Definition(name, None) if module else None
        found = self._bound[module].get(last)
        if isinstance(found, ast.ClassDef | ast.FunctionDef):
            return Definition(name, found)
        if found is not None:
            target = self.full(module, found)
            return self.definition(target) if target else None
        inner = (self.definition(f"{star}.{last}") for star in self._stars[module])
        return next((one for one in inner if one is not None and one.node is not None), None)

    def _member(self, owner: str, name: str) -> Definition | None:
        """A method of a class."""
        found = self.definition(owner) if owner else None
        body = found.node.body if found is not None and isinstance(found.node, ast.ClassDef) else []
        methods = (one for one in body if isinstance(one, ast.FunctionDef) and one.name == name)
        return next((Definition(f"{owner}.{name}", one) for one in methods), None)

    def full(self, module: str, expr: ast.AST) -> str:
        """The full name of an expression in a module; '' if it is not a name."""
        if isinstance(expr, ast.Subscript):
            return self.full(module, expr.value)
        if isinstance(expr, ast.Attribute):
            base = self.full(module, expr.value)
            return f"{base}.{expr.attr}" if base else ""
        if not isinstance(expr, ast.Name):
            return ""
        if "." in expr.id:  # what an import names
            return expr.id
        bound = self._bound[module].get(expr.id)
        if isinstance(bound, ast.ClassDef | ast.FunctionDef) or bound is None:
            return f"{module}.{expr.id}"
        return self.full(module, bound)

    def bases(self, name: str, depth: int = 0) -> Iterator[str]:
        """The full names of a class and, recursively, of its base classes. A class outside the library ends its
        branch."""
        found = self.definition(name)
        if found is None or depth > _MOST_BASES:
            return
        yield found.name
        if isinstance(found.node, ast.ClassDef):
            for base in found.node.bases:
                yield from self.bases(self.full(found.name.rpartition(".")[0], base), depth + 1)

    def signature(self, name: str, depth: int = 0) -> ast.arguments | None:
        """The parameters of a function, or of the constructor of a class (that of a base class if it has none)."""
        found = self.definition(name)
        if found is None or depth > _MOST_BASES:
            return None
        if not isinstance(found.node, ast.ClassDef):
            return found.node.args if found.node is not None else None
        for one in found.node.body:
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                return one.args
        module = found.name.rpartition(".")[0]
        signatures = (self.signature(self.full(module, base), depth + 1) for base in found.node.bases)
        return next((one for one in signatures if one is not None), None)

    def aliases(self, name: str) -> Iterator[str]:
        """The other names of a definition: the one in its module, and those under which packages export it."""
        found = self.definition(name)
        if found is None:
            return
        last = name.rpartition(".")[2]
        for one in dict.fromkeys((found.name, *(f"{package}.{last}" for package in sorted(self._packages)))):
            if one != name and self.definition(one) == found:
                yield one


def _reference(name: str) -> ast.AST:
    return ast.Name(name, ast.Load())


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, including those in branches."""
    for one in body:
        yield one
        if isinstance(one, ast.If | ast.Try):
            yield from _statements([*one.body, *one.orelse])
        if isinstance(one, ast.Try):
            for handler in one.handlers:
                yield from _statements(handler.body)


def _absolute(module: str, is_package: bool, inner: str | None, level: int) -> str:
    if not level:
        return inner or ""
    parts = module.split(".")
    kept = parts[: len(parts) - level + is_package]
    return ".".join((*kept, *filter(None, [inner])))
