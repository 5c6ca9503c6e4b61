"""The fix for a handle or a pool: an accessor that makes it once in each process."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertMethod, InsertStatement, Intent, ReplaceAttributeUses
from loaderlint.knowledge.handles import READ_ON, HandleKind
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.values import ClassRef, Instance, LibMember, LibObject, Origin
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.expression_source import read_elsewhere, source_of
from loaderlint.rules.shared.held_handles import handle_kind, opener

_ACCESSOR = '''\
def {{_get_{stem}}}(self):
    """{doc}"""
    if self._{stem}_pid != {{os}}.getpid():
{before}        self.{name}, self._{stem}_pid = {opened}, {{os}}.getpid()
    return self.{name}'''

_DOC = "The handle of this process: one opened before a fork shares its file position with all other processes."

_CLOSE_FIRST = """\
        if self.{name} is not None:
            self.{name}.close()  # LMDB opens an environment once in a process, and an inherited one counts
"""

_GETSTATE = """\
def __getstate__(self):
    state = self.__dict__.copy()
    state["{name}"] = state["_{stem}_pid"] = None  # opened again where it is used
    return state"""


def accessor(made: LibObject, kind: HandleKind, origins: frozenset[Origin], model: Model) -> tuple[Fix, ...]:
    """The accessor, where the class's own `__init__` opens the handle for reading and keeps it under one name."""
    if not kind.fix or _is_written(made, model):
        return ()
    intents = keyed_by_process(made, origins, _DOC, _CLOSE_FIRST if kind.fix == "close_first" else "", model)
    if not intents:
        return ()
    if kind.word in READ_ON and not any(_seeks(call) for call in model.calls_on(made)):
        return (Fix(f"Open the {kind.word} in each process (each reads it from its start)", "unsafe", intents),)
    return (Fix(f"Open the {kind.word} in each process", "safe", intents),)


def _seeks(call: WorkerCall) -> bool:
    return any(isinstance(atom, LibMember) and atom.name == "seek" for atom in call.callee.atoms)


def keyed_by_process(
    made: LibObject, origins: frozenset[Origin], doc: str, before: str, model: Model
) -> tuple[Intent, ...]:
    """What gives each process an object of its own where the class's `__init__` makes one and keeps it under one name;
    none where that cannot be done. `doc`: what the accessor says of itself; `before`: its first statements, with
    `{name}` for the attribute."""
    store = _own_store(made, origins, model)
    if store is None or store.frame.owner is None:
        return ()
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    opened, kept = source_of(step.value, store.frame, model)
    if opened is None or any(read_elsewhere(store.frame.owner, step.name, model)):
        return ()
    stem = step.name.lstrip("_")
    birth = model.step_place(store.frame, store.step)
    statements = "\n".join([f"self._{stem}_pid = {{os}}.getpid()", *kept])
    cls = model.class_place(store.frame.owner)
    first = before.format(name=step.name)
    source = _ACCESSOR.format(stem=stem, name=step.name, opened=opened, before=first, doc=doc)
    getstate = _GETSTATE.format(stem=stem, name=step.name)
    return (
        InsertStatement(birth, statements),
        InsertMethod(cls, f"_get_{stem}", source),
        InsertMethod(cls, "__getstate__", getstate),
        ReplaceAttributeUses(cls, step.name, f"self.{{_get_{stem}}}()", ("__init__", f"_get_{stem}", "__getstate__")),
    )


def _own_store(made: LibObject, origins: frozenset[Origin], model: Model) -> Store | None:
    """The only assignment of the handle, in the `__init__` of a plain class that keeps nothing else of it."""
    for origin in origins:
        if not isinstance(origin.owner, Instance) or len(origin.path) != 1 or not _is_plain(origin.owner.cls, model):
            continue
        stores = model.ev.classes.stores(origin.owner, origin.path[0])
        if len(stores) != 1 or stores[0].frame != made.site.frame or stores[0].value.atoms != {made}:
            continue
        if model.def_of(stores[0].frame).name == "__init__" and not _keeps_parts(made, origin.owner, model):
            return stores[0]
    return None


def _is_plain(cls: ClassRef, model: Model) -> bool:
    names = ("__slots__", "__getstate__", "__reduce__", "__setattr__")
    return not any(model.ev.classes.member(cls, name) for name in names)


def _keeps_parts(made: LibObject, inst: Instance, model: Model) -> bool:
    """Whether the constructor keeps the handle under another form too, or another dataset, cursor or transaction of it:
    that would stay the inherited one."""
    kept = model.remembered(_kept_handles, inst).get(opener(made, model), ())
    return any(atom != made for atom in kept)


def _kept_handles(inst: Instance, model: Model) -> dict[LibObject, set[LibObject]]:
    """What the constructor keeps of each handle."""
    kept: dict[LibObject, set[LibObject]] = {}
    for frame in model.ev.classes.construction(inst):
        for _, step in model.steps_of(frame, ir.SetAttr):
            for atom in model.ev.eval(step.value, frame).only(LibObject):
                if isinstance(atom, LibObject) and handle_kind(atom, model):
                    kept.setdefault(opener(atom, model), set()).add(atom)
    return kept


def _is_written(made: LibObject, model: Model) -> bool:
    """Whether the handle may be opened for writing: a mode that is no constant, or holds w, a, x or +."""
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
