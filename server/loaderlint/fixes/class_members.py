"""Add methods to a class, and replace what its methods read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import libcst as cst
from msgspec.structs import replace

from loaderlint.findings.finding import InsertMethod, Place, ReplaceAttributeUses
from loaderlint.fixes.added_functions import named, numbered, renamed, says, tokens_of
from loaderlint.fixes.draft import LINES, Draft, NewMethod
from loaderlint.fixes.edit_expressions import replace_expression
from loaderlint.fixes.file_edits import Change, Refused
from loaderlint.fixes.name_scopes import has_word, is_stored
from loaderlint.fixes.piece_tree import Tree

Method = tuple[Tree, cst.FunctionDef]


def plan_method(intent: InsertMethod, draft: Draft, fill: Callable[[str, Place], str]) -> str:
    """Add the method to the plan, if the class has no equal one. Returns its name. `fill` replaces the marks of a text.

    Raises Refused."""
    cls = _class(draft, intent.cls)
    old = draft.plan
    source = fill(named(intent, draft), intent.cls)
    tokens = tokens_of(source, intent.name)
    if tokens is None:
        raise Refused(f"{intent.name} is not a valid method")
    for tree, there in _methods(draft, intent.cls):
        start, end = tree.start(there), tree.end(there)
        if not there.decorators and says(draft, (draft.line_start(start), end), there.name.value, tokens):
            draft.plan = old  # nor are imports needed
            return there.name.value
    cls_start = draft.tree(intent.cls.piece).start(cls)
    new = [method for method in draft.plan.methods if method.cls == cls_start]
    for method in new:
        if method.tokens == tokens:
            draft.plan = old
            return method.name
    start, end, indent = _body(draft, intent.cls, cls)
    taken = {method.name for method in new}
    text = draft.text[start:end]
    name = next(one for one in numbered(intent.name) if one not in taken and not has_word(text, one))
    if name != intent.name and intent.name.startswith("__"):
        raise Refused(f"the class has its own {intent.name}")  # Python calls it by this name and no other
    source = renamed(source, intent.name, name)
    method = NewMethod(cls_start, name, tokens, source, end, indent)
    draft.plan = replace(draft.plan, methods=(*draft.plan.methods, method))
    return name


def method_changes(draft: Draft) -> list[Change]:
    """The changes that add the plan's methods."""
    return [
        draft.insert_lines(method.offset, draft.newline + draft.lines(method.source, method.indent), LINES)
        for method in draft.plan.methods
    ]


def replace_uses(intent: ReplaceAttributeUses, draft: Draft, keep: frozenset[str], replacement: str) -> None:
    """Plan to replace the reads of an attribute. Raises Refused if it is also written, or its use cannot be seen."""
    _class(draft, intent.cls)
    for tree, method in _methods(draft, intent.cls):
        name = method.name.value
        if name != "__init__" and name not in keep and name not in intent.keep:
            _replace_in(draft, tree, method, intent.attribute, replacement)


def _replace_in(draft: Draft, tree: Tree, method: cst.FunctionDef, attribute: str, replacement: str) -> None:
    if not has_word(draft.text[tree.start(method) : tree.end(method)], attribute):
        return
    decorators = {
        decorator.decorator.value for decorator in method.decorators if isinstance(decorator.decorator, cst.Name)
    }
    if "staticmethod" in decorators:
        return
    own = _first_parameter(method.params)
    draft.spend(len(tree.nodes))
    for node in tree.nodes:
        if not any(above is method for above in tree.above(node)):
            continue
        if isinstance(node, cst.SimpleString) and node.raw_value == attribute:
            raise Refused(f"{attribute!r} is used by its name in {method.name.value}")
        if isinstance(node, cst.Name) and node.value == own and is_stored(tree, node):
            if not isinstance(tree.parent(node), cst.Param):  # those of functions inside: see `_hides`
                raise Refused(f"{own!r} is bound again in {method.name.value}")
        if not isinstance(node, cst.Attribute) or node.attr.value != attribute:
            continue
        if not isinstance(node.value, cst.Name) or node.value.value != own:
            continue
        if "classmethod" in decorators or _hides(tree, node, method, own):
            raise Refused(f"{attribute!r} is used of another object in {method.name.value}")
        if is_stored(tree, node):
            raise Refused(f"{attribute!r} is also written in {method.name.value}")
        _replace_one(draft, tree, node, re.sub(r"(?<!\w)self(?!\w)", own, replacement))


def _replace_one(draft: Draft, tree: Tree, node: cst.Attribute, text: str) -> None:
    in_text = any(isinstance(above, cst.BaseFormattedStringContent) for above in tree.above(node))
    if not in_text:
        replace_expression(draft, tree, node, text)
        return
    if re.search(r"[^\w.()]", text):
        raise Refused("the attribute is used inside an f-string")
    draft.change(Change(*tree.whole(node), text))


def _hides(tree: Tree, node: cst.CSTNode, method: cst.FunctionDef, own: str) -> bool:
    """Whether a function inside the method, around `node`, has a parameter with the name of the method's own first."""
    for above in tree.above(node):
        if above is method:
            return False
        if isinstance(above, cst.FunctionDef | cst.Lambda) and own in _parameters(above.params):
            return True
    return False


def _first_parameter(params: cst.Parameters) -> str:
    first = [*params.posonly_params, *params.params]
    return first[0].name.value if first else ""


def _parameters(params: cst.Parameters) -> set[str]:
    found = {param.name.value for param in (*params.posonly_params, *params.params, *params.kwonly_params)}
    return found | {star.name.value for star in (params.star_arg, params.star_kwarg) if isinstance(star, cst.Param)}


# --- classes ----------------------------------------------------------------------------------------------------------


def _class(draft: Draft, place: Place) -> cst.ClassDef:
    tree, node = draft.find(place)
    for above in (node, *tree.above(node)):
        if isinstance(above, cst.ClassDef):
            return above
    raise Refused("this is not a class")


def _methods(draft: Draft, place: Place) -> Iterator[Method]:
    """The functions in the body of the class, also those under an `if` or `try` of it."""
    cls = _class(draft, place)
    tree = draft.tree(place.piece)
    if draft.pieces[place.piece].kind == "class" and cls is tree.node:
        draft.spend(draft.last_inside(place.piece) - place.piece)
        for piece in range(place.piece + 1, draft.last_inside(place.piece) + 1):
            around = [above for above in draft.above(piece) if draft.pieces[above].kind == "class"]
            if around[0] == place.piece and draft.pieces[piece].kind == "statement":
                member = draft.tree(piece)
                yield from ((member, found) for found in _outermost(member, None))
        return
    yield from ((tree, found) for found in _outermost(tree, cls))


def _outermost(tree: Tree, cls: cst.ClassDef | None) -> Iterator[cst.FunctionDef]:
    """The functions directly in a class's body (or, with None, in a piece of one)."""
    return (function for function, around in tree.functions if around is cls)


def _body(draft: Draft, place: Place, cls: cst.ClassDef) -> tuple[int, int, str]:
    """Where the body of the class begins and where the lines after it begin, and its indentation."""
    tree = draft.tree(place.piece)
    if draft.pieces[place.piece].kind == "class" and cls is tree.node:
        last = draft.last_inside(place.piece)
        if last == place.piece:
            raise Refused("the class is written on one line")
        first = draft.pieces[place.piece + 1]
        indent = draft.indentation(first.start + len(first.text) - len(first.text.lstrip()))
        return first.start, draft.piece_end(last), indent
    if not isinstance(cls.body, cst.IndentedBlock):
        raise Refused("the class is written on one line")
    start, end = tree.start(cls.body), tree.end(cls.body)
    return start, draft.next_line(end), draft.indentation(start)
