"""What the names of a file mean, and the `{...}` marks in intents."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import libcst as cst
from msgspec.structs import replace

from loaderlint.findings.finding import AddImport
from loaderlint.fixes.draft import Draft, Meaning, NewImport
from loaderlint.fixes.file_edits import Refused
from loaderlint.fixes.piece_tree import Tree

_MARK = re.compile(r"\{([^\W\d]\w*(?:\.[^\W\d]\w*)*)\}")
#: A mark with the member of the module that the text uses: `{random}.Random`.
_MEMBER = re.compile(rf"{_MARK.pattern}\.([^\W\d]\w*)")

#: Modules that a mark may name without an `AddImport`. Other braces may be anything (a set, part of an f-string).
_MODULES = frozenset(
    "copy cv2 functools h5py io itertools lmdb math multiprocessing numpy operator os pathlib pickle random sqlite3 "
    "sys tarfile threading time torch torchvision warnings zipfile".split()
)
_USUAL_ALIAS = {"numpy": "np"}
#: Submodules that come with the import of their package: `import torch` is enough for `torch.utils.data`.
_COME_ALONG = frozenset({"torch.utils.data"})

_Function = cst.FunctionDef | cst.Lambda
_Comprehension = cst.BaseComp
_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.BaseComp)


class Binding(NamedTuple):
    """A name gets a value. `meaning` if an import gives it, None else. `node` binds it, in the piece `piece`.

    `sure`: nothing decides whether this happens, except that it may fail in a `try`. `handler`: it stands in an
    `except` (so `np = None` where an import of `np` failed)."""

    name: str
    meaning: Meaning | None
    loaded: str
    node: cst.CSTNode
    piece: int
    sure: bool
    handler: bool


class Here(NamedTuple):
    """Where a text will stand: a node of a piece, or (None) a new function of the module. `below`: it stands below the
    statement of the node, so that what this binds is known."""

    draft: Draft
    piece: int
    tree: Tree | None
    node: cst.CSTNode | None
    below: bool = False


def has_word(text: str, word: str) -> bool:
    """Whether `word` occurs in `text` as an identifier does."""
    return word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def fill(text: str, here: Here, names: Mapping[str, str], imports: Mapping[str, AddImport]) -> str:
    """`text` with its marks replaced, and its strings in the file's quotes. `names`: what marks that are no modules
    become; `imports`: the `AddImport`s of the same fix by the mark they allow. Adds the imports that are missing.

    Raises Refused if a name is shadowed."""

    def name(found: re.Match[str]) -> str:
        mark = found[1]
        if mark in names:
            if _shadowed(here, names[mark]):
                raise Refused(f"{names[mark]!r} means something else here")
            return names[mark]
        if mark in imports:
            return known_as(imports[mark], here)
        if mark.partition(".")[0] in _MODULES:
            return known_as(AddImport(here.draft.path, mark), here)
        return found[0]

    def member(found: re.Match[str]) -> str:
        module, one = found.groups()
        is_module = module not in names and module.partition(".")[0] in _MODULES
        return (is_module and _member_known(module, one, here)) or found[0]

    return here.draft.quoted(_MARK.sub(name, _MEMBER.sub(member, text)))


def _member_known(module: str, member: str, here: Here) -> str:
    """The name of a module's member that the file imports without the module: `Random` of `from random import Random`.
    '' if there is none."""
    known = next(_known(Meaning(module, member), here), "")
    if not known or _shadowed(here, known) or any(True for _ in _known(Meaning(module, None), here)):
        return ""
    return known


def known_as(wanted: AddImport, here: Here) -> str:
    """The name under which what `wanted` imports is known at `here`; the import is added if there is none.

    Raises Refused if the name means something else there."""
    meaning = Meaning(wanted.module, wanted.name)
    local = _local_import(meaning, here)
    if local is not None:
        return local
    shadow = None
    for name in _known(meaning, here):
        root = name.partition(".")[0]
        if not _shadowed(here, root):
            return name
        shadow = root
    if shadow is not None:
        raise Refused(f"{shadow!r} means something else here")
    return _add(wanted, meaning, here)


def ensure(wanted: AddImport, draft: Draft, literal: bool) -> None:
    """Make sure that the module is imported. `literal`: the fix writes the name as it is, not as a mark.

    Raises Refused if the name means something else in the file."""
    name = known_as(wanted, Here(draft, len(draft.pieces), None, None))
    if literal and wanted.name is not None and name != wanted.name:
        raise Refused(f"{wanted.name!r} means something else in {draft.path.name}")


# --- names that are known ---------------------------------------------------------------------------------------------


def _known(meaning: Meaning, here: Here) -> Iterator[str]:
    """The expressions that mean `meaning` at module level, those of imports to be added last."""
    draft = here.draft
    module, _, member = meaning.module.rpartition(".")
    root = meaning.module.partition(".")[0]
    loaded = {binding.loaded for binding in module_imports(draft) if binding.sure}
    for binding in module_imports(draft):
        name = binding.name
        if meaning.name is None and module and binding.meaning == Meaning(root, None) and name == root:
            is_loaded = any(f"{one}.".startswith(f"{meaning.module}.") for one in loaded)
            if meaning.module not in _COME_ALONG and not is_loaded:
                continue
            name = meaning.module
        elif binding.meaning != meaning:
            if meaning.name is not None or not module or binding.meaning != Meaning(module, member):
                continue
        is_run = binding.sure and _in_time(binding, here) or _is_above(binding, here)
        if is_run and _only(binding, draft):
            yield name
    for new in draft.plan.imports:
        if new.meaning == meaning:
            yield new.bound


def _in_time(binding: Binding, here: Here) -> bool:
    """Whether the import has been run when the code at `here` runs."""
    if here.node is None or here.tree is None or binding.piece < here.piece + here.below:
        return True
    return any(isinstance(node, _Function) for node in (here.node, *here.tree.above(here.node)))


def _is_above(binding: Binding, here: Here) -> bool:
    """Whether an import stands above `here` in the same block, such as that of a main guard, or in one around it."""
    draft, tree = here.draft, here.draft.known_tree(binding.piece)
    if here.node is None or tree is None or binding.piece > here.piece:
        return False
    again = _bound(draft, binding.piece).get(None, _NOTHING).names.get(binding.name, ())
    nodes = [one.node for one in again if one.meaning == binding.meaning]
    if binding.piece == here.piece:
        return here.tree is tree and any(_is_above_in(tree, node, here.node) for node in nodes)
    is_around = draft.pieces[binding.piece].parent in draft.above(here.piece)
    return is_around and any(_certainty(tree, node, None) == "sure" for node in nodes)


def _is_above_in(tree: Tree, node: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether `other` stands in the block of `node`, below it."""
    block = next((one for one in tree.above(node) if isinstance(one, cst.IndentedBlock)), None)
    return any(one is block for one in tree.above(other)) and tree.start(node) < tree.start(other)


def _only(binding: Binding, draft: Draft) -> bool:
    """Whether nothing else binds the name to something else."""
    return all(other.meaning == binding.meaning or other.handler for other in bindings(draft, binding.name))


def module_imports(draft: Draft) -> list[Binding]:
    """What imports bind at module level."""
    if draft.original.imports is None:
        draft.original.imports = _find_imports(draft)
    return draft.original.imports


def _find_imports(draft: Draft) -> list[Binding]:
    found = []
    for piece in draft.original.module_level:
        if "import" in draft.pieces[piece].text and not _is_def(draft, piece):
            found += [binding for binding in _bound(draft, piece).get(None, _NOTHING) if binding.meaning is not None]
    return found


def bindings(draft: Draft, name: str) -> list[Binding]:
    """What binds `name` at module level. Raises Refused if a piece with the name does not parse."""
    known = draft.original.bindings
    if name not in known:
        known[name] = _find_bindings(draft, name)
    return known[name]


def _find_bindings(draft: Draft, name: str) -> list[Binding]:
    found: list[Binding] = []
    for piece in draft.original.module_level:
        if has_word(draft.pieces[piece].text, name):
            if draft.known_tree(piece) is None:
                raise Refused(f"a part of {draft.path.name} with {name!r} is not valid Python")
            found += _bound(draft, piece).get(None, _NOTHING).names.get(name, ())
    for piece, one in enumerate(draft.pieces):  # functions that declare the name global
        if "global" in one.text and has_word(one.text, name):
            found += _bound(draft, piece).get("global", _NOTHING).names.get(name, ())
    return found


def binding_nodes(draft: Draft, name: str) -> list[cst.CSTNode]:
    """The nodes that bind `name` anywhere in the file, in any scope. Raises Refused if a piece with the name does not
    parse."""
    found = []
    for piece, one in enumerate(draft.pieces):
        if has_word(one.text, name):
            if draft.known_tree(piece) is None:
                raise Refused(f"a part of {draft.path.name} with {name!r} is not valid Python")
            scopes = _bound(draft, piece).values()
            found += [binding.node for scope in scopes for binding in scope.names.get(name, ())]
    return found


def _is_def(draft: Draft, piece: int) -> bool:
    return draft.pieces[piece].text.lstrip().startswith(("def ", "async def ", "@", "class "))


# --- names that are free ----------------------------------------------------------------------------------------------


def _add(wanted: AddImport, meaning: Meaning, here: Here) -> str:
    draft = here.draft
    for bound in _wishes(wanted):
        root = bound.partition(".")[0]
        if not _is_free(root, bound, wanted, here):
            continue
        new = NewImport(_statement(wanted, bound), bound, meaning)
        draft.plan = replace(draft.plan, imports=(*draft.plan.imports, new))
        return bound
    raise Refused(f"there is no free name for {wanted.module}")


def _wishes(wanted: AddImport) -> Iterator[str]:
    """Names for a new import, the best first."""
    if wanted.name is not None:
        first = wanted.alias or wanted.name
    else:
        first = wanted.alias or _USUAL_ALIAS.get(wanted.module, wanted.module)
        yield first
        yield wanted.module
        first = first.replace(".", "_")
    yield first
    yield from (f"{first}_{number}" for number in range(2, 10))


def _is_free(root: str, bound: str, wanted: AddImport, here: Here) -> bool:
    draft = here.draft
    if not root.isidentifier() or keyword.iskeyword(root) or hasattr(builtins, root):
        return False
    same = (
        Meaning(root, None) if wanted.name is None and bound == wanted.module else Meaning(wanted.module, wanted.name)
    )
    if any(other.meaning != same for other in bindings(draft, root)):
        return False
    if any(new.bound.partition(".")[0] == root and not _same_root(new, root, same) for new in draft.plan.imports):
        return False
    if any(new.name == root for new in draft.plan.functions):
        return False
    if _shadowed(here, root):
        raise Refused(f"{root!r} means something else here")
    return True


def _same_root(new: NewImport, root: str, same: Meaning) -> bool:
    """Whether two new imports may bind `root` both: `import a.b` and `import a.c`."""
    return same == Meaning(root, None) and new.bound == new.meaning.module and new.meaning.name is None


def _statement(wanted: AddImport, bound: str) -> str:
    if wanted.name is not None:
        alias = "" if bound == wanted.name else f" as {bound}"
        return f"from {wanted.module} import {wanted.name}{alias}"
    return f"import {wanted.module}" + ("" if bound == wanted.module else f" as {bound}")


# --- scopes -----------------------------------------------------------------------------------------------------------


def _local_import(meaning: Meaning, here: Here) -> str | None:
    """The name of an import in a function around `here` that has been run there."""
    if here.tree is None or here.node is None:
        return None
    start = here.tree.start(here.node)
    for scope in _functions_around(here.tree, here.node):
        bound = _bound(here.draft, here.piece).get(id(scope), _NOTHING)
        for name in bound.imports:
            all_of_it = bound.names[name]
            sure = any(one.sure and here.tree.end(one.node) <= start for one in all_of_it)
            if sure and all(one.meaning == meaning for one in all_of_it):
                if not _shadowed(here, name, within=scope):
                    return name
    return None


def _shadowed(here: Here, name: str, within: cst.CSTNode | None = None) -> bool:
    """Whether a function around `here` (up to `within`, left out) has a local with this name."""
    if here.tree is None or here.node is None:
        return False
    for scope in _functions_around(here.tree, here.node):
        if scope is within:
            return False
        if name in _bound(here.draft, here.piece).get(id(scope), _NOTHING).names:
            return True
    return False


def _functions_around(tree: Tree, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for above in (node, *tree.above(node)):
        if isinstance(above, _Function | _Comprehension):
            yield above


class _Scope:
    """What a scope binds, by name; `imports` are the names that an import binds there."""

    __slots__ = ("imports", "names")

    def __init__(self, bound: Iterable[Binding] = ()) -> None:
        self.names: dict[str, list[Binding]] = {}
        for binding in bound:
            self.names.setdefault(binding.name, []).append(binding)
        self.imports = [name for name, found in self.names.items() if any(one.meaning is not None for one in found)]

    def __iter__(self) -> Iterator[Binding]:
        return (binding for bound in self.names.values() for binding in bound)


_NOTHING = _Scope()


def _bound(draft: Draft, piece: int) -> dict[object, _Scope]:
    """What a piece binds, by scope: the id of a function's, class's or comprehension's node, None for the piece itself,
    'global' for what functions declare so."""
    tree = draft.known_tree(piece)
    if tree is None:
        return {}
    if tree.scopes is None:
        tree.scopes = {key: _Scope(bound) for key, bound in _scopes(draft, piece, tree).items()}
    return tree.scopes


def _scopes(draft: Draft, piece: int, tree: Tree) -> dict[object, list[Binding]]:
    declared: set[tuple[int, str]] = set()
    for node in tree.nodes:
        if isinstance(node, cst.Global):
            scope = _scope(tree, node)
            declared |= {(id(scope), item.name.value) for item in node.names}
    parents = [draft.pieces[above] for above in draft.above(piece)]
    sure = all(parent.keyword == "try" for parent in parents)
    handler = any(parent.keyword == "except" for parent in parents)
    found: dict[object, list[Binding]] = {}
    for node in tree.nodes:
        for name, meaning, loaded in _binds(tree, node):
            scope = _scope(tree, node)
            key: object = None if scope is None else id(scope)
            if (id(scope), name) in declared:
                key = "global"
            inner = _certainty(tree, node, scope)
            binding = Binding(name, meaning, loaded, node, piece, inner == "sure", inner == "handler")
            if key is None:
                binding = binding._replace(sure=binding.sure and sure, handler=binding.handler or handler)
            found.setdefault(key, []).append(binding)
    return found


def _binds(tree: Tree, node: cst.CSTNode) -> Iterator[tuple[str, Meaning | None, str]]:
    """What the node itself binds: name, meaning, and the module that is loaded."""
    if isinstance(node, cst.ImportAlias):
        yield from _imported(tree, node)
    elif isinstance(node, cst.Name) and is_stored(tree, node):
        yield node.value, None, ""


def _imported(tree: Tree, alias: cst.ImportAlias) -> Iterator[tuple[str, Meaning | None, str]]:
    name = dotted(alias.name)
    asname = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else None
    parent = tree.parent(alias)
    module = getattr(parent, "module", None)
    relative = getattr(parent, "relative", ())
    if module is not None or relative:
        source = "." * len(relative) + (dotted(module) if module is not None else "")
        yield asname or name, Meaning(source, name), source
    elif asname is not None:
        yield asname, Meaning(name, None), name
    else:
        root = name.partition(".")[0]
        yield root, Meaning(root, None), name


def dotted(node: cst.CSTNode) -> str:
    """The text of a dotted name."""
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def is_stored(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether the name or attribute at `node` is bound, augmented or deleted there, not read."""
    child, parent = node, tree.parent(node)
    while isinstance(parent, cst.Element | cst.StarredElement | cst.Tuple | cst.List):
        child, parent = parent, tree.parent(parent)
    if isinstance(
        parent, cst.AnnAssign | cst.AugAssign | cst.For | cst.CompFor | cst.NamedExpr | cst.AssignTarget | cst.Del
    ):
        return parent.target is child
    if isinstance(parent, cst.FunctionDef | cst.ClassDef | cst.Param | cst.AsName | cst.MatchStar | cst.TypeAlias):
        return parent.name is child and not isinstance(tree.parent(parent), cst.ImportAlias)
    if isinstance(parent, cst.MatchAs):
        return parent.name is child
    if isinstance(parent, cst.MatchMapping):
        return parent.rest is child
    return False


def _scope(tree: Tree, node: cst.CSTNode) -> cst.CSTNode | None:
    """The function, class or comprehension that a binding at `node` belongs to; None for the piece itself."""
    parent = tree.parent(node)
    above = list(tree.above(node))
    if isinstance(parent, cst.FunctionDef | cst.ClassDef) and parent.name is node:
        above = above[1:]
    walrus = isinstance(parent, cst.NamedExpr)
    for one in above:
        if isinstance(one, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            return one
        if isinstance(one, cst.BaseComp) and not walrus:
            return one
    return None


def _certainty(tree: Tree, node: cst.CSTNode, scope: cst.CSTNode | None) -> str:
    """'sure', 'handler' or 'conditional' for what stands at `node` in `scope`."""
    child = node
    for above in tree.above(node):
        if above is scope:
            break
        if isinstance(above, cst.ExceptHandler | cst.ExceptStarHandler):
            return "handler"
        if isinstance(above, cst.If | cst.Else | cst.For | cst.While | cst.With | cst.Finally | cst.Match):
            return "conditional"
        if isinstance(above, cst.Try | cst.TryStar) and child is not above.body:
            return "conditional"
        child = above
    return "sure"
