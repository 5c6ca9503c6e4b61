"""The fix for a handle or a pool: an accessor that creates it once in each process."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertMethod, InsertStatement, Intent, ReplaceAttributeUses, Safety
from loaderlint.knowledge.handles import READ_ON, WHY_CLOSE_FIRST, HandleKind
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    Instance,
    LibMember,
    LibObject,
    Literal_,
    Origin,
    repr_origin,
)
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.closing_methods import Closing, closing
from loaderlint.rules.shared.expression_source import read_elsewhere, source_of
from loaderlint.rules.shared.held_handles import handle_kind, handles_read, opener
from loaderlint.rules.shared.plain_classes import has_plain_class

#: At most this many handles of one class are fixed together. Beyond it there is no fix: nobody would read it, and each
#: finding contains all of it.
_TOGETHER = 16

#: The classes of handles, as an annotation names them.
_CLASSES = MappingProxyType(
    {
        "h5py.File": "{h5py}.File",
        "lmdb.open": "{lmdb}.Environment",
        "sqlite3.connect": "{sqlite3}.Connection",
        "tarfile.open": "{tarfile}.TarFile",
        "zipfile.ZipFile": "{zipfile}.ZipFile",
    }
)
#: The methods that create the attributes of an object.
_CONSTRUCTORS = ("__init__", "__post_init__")

_ACCESSOR = '''\
def {{_get_{stem}}}(self){kind}:
    """{doc}"""
    if self._{stem}_pid != {{os}}.getpid():
{before}        self.{name} = {opened}
        self._{stem}_pid = {{os}}.getpid()
    return self.{name}'''

_DOC = "The handle of this process: a handle must not be used across a fork."

_CLOSE_FIRST = """\
        if self.{name} is not None:
{why}            self.{name}.close()
"""

#: How wide the text of a comment in a branch of a method may be.
_COMMENT = 60

_GETSTATE = """\
def __getstate__(self) -> dict:
    state = self.__dict__.copy()
{left_out}
    return state"""

_LEFT_OUT = '    state["{name}"] = state["_{stem}_pid"] = None'
_LEFT_OUT_TOO = '    state["{name}"] = None'


def accessor(made: LibObject, kind: HandleKind, origins: frozenset[Origin], model: Model) -> tuple[Fix, ...]:
    """The accessor, if the class's own `__init__` opens the handle for reading and stores it in one attribute."""
    if not can_be_reopened(made, kind, model):
        return ()
    intents = keyed_by_process(made, origins, _DOC, model)
    if not intents:
        return ()
    owner = _owner(made, origins, model)
    beside = _made_beside(made, owner, model) if owner else []
    if any(reads_on(one, model) for one in (made, *beside)):
        return (Fix(f"Open the {kind.word} in each process (each reads it from its start)", "unsafe", intents),)
    # What a method does at the end beside closing may not be meant for a handle that it opens first.
    opens_at_the_end = any(_closing(one, owner, model).others for one in (made, *beside)) if owner else False
    # Where several objects have the same file open, it stays open when one of them closes its own handle.
    is_one_of_many = owner is not None and kind.fix == "close_first" and _is_made_in_loop(owner, model)
    safety: Safety = "unsafe" if opens_at_the_end or is_one_of_many else "safe"
    return (Fix(f"Open the {kind.word} in each process", safety, intents),)


def _is_made_in_loop(owner: Instance, model: Model) -> bool:
    """Whether an object is one of several that a loop or a comprehension makes."""
    if owner.site is None:
        return False
    code = owner.site.frame.code
    if code.one is not None and code.one.is_in_loop(code.context_of(owner.site.expr)):
        return True
    elements = [e.element for e in code.exprs if isinstance(e, ir.Comp)]
    return owner.site.expr in ir.made_of(code.exprs, elements)


def _closing(made: LibObject, owner: Instance, model: Model) -> Closing:
    """The methods that close what a class's constructor creates and stores."""
    store = _own_store(made, owner, model)
    if store is None or store.frame.owner is None:
        return Closing((), (), ())
    return closing(store.frame.owner, _attribute(store, model), owner, model)


def can_be_reopened(made: LibObject, kind: HandleKind, model: Model) -> bool:
    """Whether another handle of the same file works as well: the file is only read, and is on disk."""
    return bool(kind.fix) and not _is_written(made, model) and not _is_in_memory(made, model)


def reads_on(made: LibObject, model: Model) -> bool:
    """Whether each process would read the file from its start, because nothing seeks in it, or only where it ends."""
    kind = handle_kind(made, model)
    return kind is not None and kind.word in READ_ON and not any(_seeks(call, model) for call in model.calls_on(made))


def _seeks(call: WorkerCall, model: Model) -> bool:
    """Whether a call seeks the place of a sample. `if not line: file.seek(0)` begins anew."""
    if not any(isinstance(atom, LibMember) and atom.name == "seek" for atom in call.callee.atoms):
        return False
    one = call.frame.code.one
    is_sure = one is None or all(here.kind != "if" for here in one.around(call.context))
    return is_sure or any(model.ev.eval(arg.value, call.frame).literal is None for arg in call.call.args)


def keyed_by_process(made: LibObject, origins: frozenset[Origin], doc: str, model: Model) -> tuple[Intent, ...]:
    """The intents that give each process its own object, if the class's `__init__` creates it and stores it in one
    attribute, and likewise for the handles in other attributes. Empty if one of them cannot be fixed. `doc`: the
    docstring of the accessor."""
    owner = _owner(made, origins, model)
    store = _own_store(made, owner, model) if owner else None
    if owner is None or store is None or store.frame.owner is None:
        return ()
    beside_it = _made_beside(made, owner, model)
    if len(beside_it) >= _TOGETHER:
        return ()
    stores = {store.step: (store, doc)}
    for other in beside_it:
        kind = handle_kind(other, model)
        beside = _own_store(other, owner, model)
        if beside is None or kind is None or not can_be_reopened(other, kind, model):
            return ()
        stores[beside.step] = (beside, _DOC)
    written = [_written_again(stores[step][0], model) for step in sorted(stores)]
    if None in written:
        return ()
    intents: list[Intent] = []
    names = []
    for one, needs in _kept_once([one for one in written if one is not None], model):
        closed = _close_first(one.store, intents, model)
        intents += _accessor_intents(one, needs, stores[one.store.step][1], closed, owner, model)
        names.append(_attribute(one.store, model))
    cls = model.class_place(store.frame.owner)
    return (*intents, InsertMethod(cls, "__getstate__", getstate(names)))


def getstate(names: Sequence[str], more: Sequence[str] = ()) -> str:
    """A `__getstate__` that leaves out handles that have a `_..._pid` each, and `more` that have none."""
    why = f"    # Opened again where {'they are' if len(names) > 1 else 'it is'} used."
    lines = [why] if names else []
    lines += [_LEFT_OUT.format(name=name, stem=name.lstrip("_")) for name in names]
    lines += [_LEFT_OUT_TOO.format(name=name) for name in more]
    return _GETSTATE.format(left_out="\n".join(lines))


class _Opening(NamedTuple):
    """How to create again an object that the class's `__init__` creates: the source text, and the statements that
    `__init__` needs for it."""

    store: Store
    source: str
    needs: Sequence[str]


def _written_again(store: Store, model: Model) -> _Opening | None:
    """None if the source cannot be written in another method, or if the object is read outside the class."""
    step = _attribute_step(store, model)
    assert store.frame.owner is not None
    opened, needs = source_of(step.value, store.frame, model)
    if opened is None or any(read_elsewhere(store.frame.owner, step.name, model)):
        return None
    return _Opening(store, opened, needs)


def _kept_once(openings: Sequence[_Opening], model: Model) -> list[tuple[_Opening, Sequence[str]]]:
    """Each opening with the statements that go beside it. A statement that several openings need goes beside the first
    one that always runs, or beside each of them if there is none."""
    frame = openings[0].store.frame
    always = not any(True for _ in frame.code.steps_of(ir.Return))
    home: dict[str, _Opening] = {}
    for one in openings:
        if always and _attribute_step(one.store, model).context == 0:
            for statement in one.needs:
                home.setdefault(statement, one)
    return [(one, [need for need in one.needs if home.get(need, one) is one]) for one in openings]


def _close_first(store: Store, told: Sequence[Intent], model: Model) -> str:
    """The lines that close the inherited handle, for a kind that needs it, with the reason if no accessor among the
    intents `told` gives it."""
    kinds = [handle_kind(atom, model) for atom in store.value.only(LibObject)]
    kind = next((kind for kind in kinds if kind and kind.fix == "close_first"), None)
    if kind is None:
        return ""
    why = "".join(f"{line}\n" for line in why_close_first(kind, " " * 12))
    is_told = any(why in intent.source for intent in told if isinstance(intent, InsertMethod))
    return _CLOSE_FIRST.format(name=_attribute(store, model), why="" if is_told else why)


def why_close_first(kind: HandleKind, indent: str) -> list[str]:
    """The comment, as lines, that says why an inherited handle is closed."""
    return [f"{indent}# {line}" for line in textwrap.wrap(WHY_CLOSE_FIRST[kind.word], _COMMENT)]


def _accessor_intents(
    opening: _Opening, needs: Sequence[str], doc: str, before: str, owner: Instance, model: Model
) -> tuple[Intent, ...]:
    """The accessor of one object, with the statements `needs` beside its assignment. `before`: lines that the accessor
    runs before it creates the object. Methods that only close the object do so where it is there."""
    store, opened = opening.store, opening.source
    name = _attribute(store, model)
    assert store.frame.owner is not None
    stem = name.lstrip("_")
    statements = "\n".join([f"self._{stem}_pid = {{os}}.getpid()", *needs])
    cls = model.class_place(store.frame.owner)
    source = _ACCESSOR.format(stem=stem, name=name, opened=opened, before=before, doc=doc, kind=_annotation(store))
    closed = closing(store.frame.owner, name, owner, model)
    keep = (model.def_of(store.frame).name, "__init__", f"_get_{stem}", "__getstate__", *closed.methods)
    return (
        *closed.guards,
        InsertStatement(model.step_place(store.frame, store.step), statements),
        InsertMethod(cls, f"_get_{stem}", source),
        ReplaceAttributeUses(cls, name, f"self.{{_get_{stem}}}()", keep),
    )


def _annotation(store: Store) -> str:
    """The annotation of what opens the handle again; '' if its class is not known."""
    names = {atom.name for atom in store.value.only(LibObject)}
    return next((f" -> {_CLASSES[name]}" for name in names if len(names) == 1 and name in _CLASSES), "")


def _attribute(store: Store, model: Model) -> str:
    return _attribute_step(store, model).name


def _attribute_step(store: Store, model: Model) -> ir.SetAttr:
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    return step


def _made_beside(made: LibObject, owner: Instance, model: Model) -> list[LibObject]:
    """The other handles that the constructor stores and that workers read: a class with only one of them fixed would
    still be wrong."""
    return [one for one in model.remembered(_handles_of_workers, owner) if one != made]


def _handles_of_workers(owner: Instance, model: Model) -> tuple[LibObject, ...]:
    """The handles that the constructor stores and that workers read."""
    kept = (opener(atom, model) for atoms in model.remembered(_kept_handles, owner).values() for atom in atoms)
    read = model.once(_read_in_workers)
    return tuple(one for one in dict.fromkeys(kept) if one in read)


def _read_in_workers(model: Model) -> Mapping[LibObject, set[tuple[object, str]]]:
    """The handles that workers read, each with the attributes that it, or a part of it, is read from: the object and
    the name."""
    found: dict[LibObject, set[tuple[object, str]]] = {}
    for frame in model.reached:
        for one in handles_read(frame, model):
            kept = found.setdefault(opener(one.handle, model), set())
            kept.update((origin.owner, origin.path[0]) for origin in one.value.origins if origin.path)
    return found


def _owner(made: LibObject, origins: frozenset[Origin], model: Model) -> Instance | None:
    """The object whose attribute stores what is read."""
    owners = (one.owner for one in sorted(origins, key=repr_origin) if len(one.path) == 1)
    return next((one for one in owners if isinstance(one, Instance) and _own_store(made, one, model)), None)


def _own_store(made: LibObject, owner: Instance, model: Model) -> Store | None:
    """The only assignment of the handle, in the constructor of a plain class that stores nothing else of it."""
    if not has_plain_class(owner.cls, model) or _keeps_parts(made, owner, model):
        return None
    store = model.remembered(_constructor_stores, made.site.frame, owner).get(made)
    if store is None or _is_read_elsewhere(made, owner, _attribute(store, model), model):
        return None
    return store


def _constructor_stores(frame: Frame, owner: Instance, model: Model) -> Mapping[Atom, Store]:
    """The objects that the constructor `frame` creates and stores in an attribute that nothing else assigns."""
    if model.def_of(frame).name not in _CONSTRUCTORS:
        return {}
    found: dict[Atom, Store] = {}
    for _, step in model.steps_of(frame, ir.SetAttr):
        if ir.is_self(model.ev.expr(frame, step.base)) and not _is_entered(step.value, frame):
            stores = model.ev.classes.stores(owner, step.name)
            if len(stores) == 1 and stores[0].frame == frame and len(stores[0].value.atoms) == 1:
                found.setdefault(next(iter(stores[0].value.atoms)), stores[0])
    return found


def _is_entered(number: int, frame: Frame) -> bool:
    """Whether an expression is `stack.enter_context(...)`: the stack closes the handle, and holds it too."""
    e = frame.code.exprs[number]
    func = frame.code.exprs[e.func] if isinstance(e, ir.Call) else None
    return isinstance(func, ir.Attr) and func.name == "enter_context"


def _keeps_parts(made: LibObject, inst: Instance, model: Model) -> bool:
    """Whether the constructor also stores another form of the handle, such as a dataset, cursor or transaction of it:
    that would remain the inherited one."""
    kept = model.remembered(_kept_handles, inst).get(opener(made, model), ())
    return any(atom != made for atom in kept)


def _is_read_elsewhere(made: LibObject, owner: Instance, name: str, model: Model) -> bool:
    """Whether workers read the handle, or a part of it, from another attribute of the object: that would remain the
    inherited one."""
    return any(other != name for holder, other in model.once(_read_in_workers).get(made, ()) if holder == owner)


def _kept_handles(inst: Instance, model: Model) -> dict[LibObject, set[LibObject]]:
    """The objects of each handle that the constructor stores."""
    kept: dict[LibObject, set[LibObject]] = {}
    for frame in model.ev.classes.construction(inst):
        for _, step in model.steps_of(frame, ir.SetAttr):
            for atom in model.ev.eval(step.value, frame).only(LibObject):
                if handle_kind(atom, model):
                    kept.setdefault(opener(atom, model), set()).add(atom)
    return kept


def _is_in_memory(made: LibObject, model: Model) -> bool:
    """Whether a SQLite database may be in memory: opened again, it would be empty."""
    if not made.name.startswith("sqlite3."):
        return False
    path = model.ev.calls.site_arguments(made.site).get("database", 0)
    names = [atom.value for atom in path.atoms if isinstance(atom, Literal_)] if path is not None else []
    return any(isinstance(name, str) and (name == "" or "memory" in name) for name in names)


def _is_written(made: LibObject, model: Model) -> bool:
    """Whether the handle may be opened for writing: the mode is not a constant, or contains w, a, x or +."""
    arguments = model.ev.calls.site_arguments(made.site)
    place = 0 if made.name == "pathlib.Path.open" else 1
    for name, position in (("mode", place), ("flag", None)):
        mode = arguments.get(name, position)
        if mode is None or (made.name.startswith(("lmdb.", "sqlite3.")) and name == "mode"):
            continue
        literal = mode.literal
        if literal is None or not isinstance(literal.value, str) or set(literal.value) & set("wax+"):
            return True
    readonly = arguments.get("readonly")
    if made.name.startswith("lmdb."):
        return readonly is None or readonly.literal is None or not readonly.literal.value
    return False
