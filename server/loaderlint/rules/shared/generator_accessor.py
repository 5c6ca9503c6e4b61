"""The fix of `shared-generator`: an accessor that creates a new generator in each worker.

Its key is torch's seed, which is new in every worker and epoch. It draws a number from torch, so that two objects of
one worker differ. `if self.rng is None` would be copied from a main process that has read a sample, and
`default_rng(torch.initial_seed())` would give all objects of a worker the same numbers. The main process keeps the
generator that it has, and draws nothing from torch.

The next number of the user's generator is part of the new seed, so every way of seeding that generator has an effect,
also one that the main process repeats in every epoch. Of a `torch.Generator` only its seed has: unpickling one ends a
worker, so both generators are left out of the state. Where methods that the main process runs use the generator, its
seed takes its place there, and `__setstate__` makes it again for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.findings.finding import (
    Fix,
    InsertMethod,
    InsertStatement,
    Intent,
    ReplaceAttributeUses,
)
from loaderlint.project.evaluation.classes import Member, Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    Instance,
    Lib,
    LibObject,
    Origin,
    Unknown,
    def_key,
)
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.drawn_orders import begins_with_drawn_order
from loaderlint.rules.shared.expression_source import read_elsewhere
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared.generator_seeds import is_of_cpu, seed_of
from loaderlint.rules.shared.pickled_to_workers import pickles_itself
from loaderlint.rules.shared.plain_classes import has_plain_class


class Draw(NamedTuple):
    """A call in worker code that draws from a generator, and where the generator is stored."""

    call: WorkerCall
    made: LibObject
    origins: frozenset[Origin]


_METHOD = '''\
def {{_get_{stem}}}(self) -> {kind}:
    """The generator of this process: workers begin with copies."""
    if {{torch}}.utils.data.get_worker_info() is None{in_main}:
        return self.{name}
    key = {{torch}}.initial_seed()  # another in each worker and epoch
    if getattr(self, "_worker_{stem}_key", None) != key:
        self._worker_{stem}_key = key
        # With the key alone, two objects of a worker would draw alike.
{seed}
        self._worker_{stem} = {make}
    return self._worker_{stem}'''

_GETSTATE = """\
def __getstate__(self) -> dict:
    state = self.__dict__.copy()
    # A worker ends when it unpickles a torch.Generator.
{left_out}
    return state"""

_LEFT_OUT = """\
    state["{name}"] = None
    state["_worker_{stem}"] = state["_worker_{stem}_key"] = None"""


_SEED_LEFT = """\
    state["{name}"] = self.{name}.initial_seed()
    state["_worker_{stem}"] = state["_worker_{stem}_key"] = None"""

_SETSTATE = """\
def __setstate__(self, state: dict) -> None:
    self.__dict__.update(state)
{made}"""

_MADE_AGAIN = """\
    self.{name} = {{torch}}.Generator().manual_seed(state["{name}"])"""


class Form(NamedTuple):
    """How a kind of generator is created from `seed`, which combines `fresh`, a number below `limit`, with the next
    number of `OLD`."""

    limit: str
    seed: str
    make: str
    kind: str

    def lines(self, seed: str, indent: str) -> str:
        """The lines that bind `seed` to an expression of `fresh`."""
        draw = f"{{torch}}.randint({self.limit}, ()).item()"
        lines = [f"seed = {draw}"] if seed == "fresh" else [f"fresh = {draw}", f"seed = {seed}"]
        return "\n".join(indent + line for line in lines)


FORMS = MappingProxyType(
    {
        "numpy": Form(
            "2**63 - 1", "[OLD.integers(2**32), fresh]", "{numpy}.random.default_rng(seed)", "{numpy}.random.Generator"
        ),
        "numpy_legacy": Form(
            "2**32", "[OLD.randint(2**31), fresh]", "{numpy}.random.RandomState(seed)", "{numpy}.random.RandomState"
        ),
        "python": Form("2**63 - 1", "OLD.getrandbits(63) ^ fresh", "{random}.Random(seed)", "{random}.Random"),
        "torch": Form("2**63 - 1", "hash((OLD, fresh))", "{torch}.Generator().manual_seed(seed)", "{torch}.Generator"),
    }
)


def accessor_fix(generators: Sequence[Sequence[Draw]], model: Model) -> Fix | None:
    """The fix for some generators that one function creates, each given by all of its draws in worker code. None if a
    draw cannot use the accessor, or if one of them cannot be created again."""
    if any(not draws for draws in generators):
        return None
    made = [_method_intents(draws, model) for draws in generators]
    if not all(made):
        return None
    intents = [intent for some in made for intent in some]
    fix = fix_of(len(made), (*intents, *_left_out(generators, intents, model)))
    leaves_more = (_is_handed_on(model, draws) or _leaves_order(model, draws) for draws in generators)
    return replace(fix, safety="unsafe") if any(leaves_more) else fix


def fix_of(number: int, intents: Iterable[Intent]) -> Fix:
    """The fix of this number of generators."""
    return Fix(f"Make the generator{'s' if number > 1 else ''} in the worker", "safe", tuple(dict.fromkeys(intents)))


def _is_handed_on(model: Model, draws: Sequence[Draw]) -> bool:
    """Whether a method that no worker runs passes the generator to other code, which may keep it: that code would go on
    drawing from the copy."""
    kept = _kept_in(draws, model)
    return kept is not None and any(
        _passes_on(member, kept, model)
        for name in _not_in_workers(kept.cls, model)
        if (member := model.ev.classes.own_members(kept.cls)[name]).function is not None
    )


def _leaves_order(model: Model, draws: Sequence[Draw]) -> bool:
    owners = {origin.owner for draw in draws for origin in draw.origins if isinstance(origin.owner, Instance)}
    made = frozenset(draw.made for draw in draws)
    return any(begins_with_drawn_order(owner, made, model) for owner in owners)


def _passes_on(member: Member, kept: _Kept, model: Model) -> bool:
    """Whether a method passes the generator to a function other than one that only draws from it."""
    file = model.files.file(kept.cls.path)
    if member.function is None or file is None or not file.pieces[member.function.piece].holds(kept.name):
        return False
    frame = model.ev.functions.open_frame(member.function, None, kept.cls)
    return frame is not None and any(
        _is_own(arg.value, kept.name, frame, model)
        for call in model.frame_calls(frame)
        if not call.callee.atoms or not all(map(_only_draws, call.callee.atoms))
        for arg in call.call.args
    )


def _only_draws(atom: Atom) -> bool:
    """Whether a function is one of a library that keeps no generator which workers draw from."""
    return isinstance(atom, Lib) and atom.name.partition(".")[0] in ("builtins", "numpy", "random", "torch")


def _is_own(number: int, name: str, frame: Frame, model: Model) -> bool:
    """Whether an expression is `self.name`."""
    e = model.ev.expr(frame, number)
    return isinstance(e, ir.Attr) and e.name == name and ir.is_self(model.ev.expr(frame, e.base))


# --- on an object -----------------------------------------------------------------------------------------------------


class _Kept(NamedTuple):
    """The attribute that stores a generator, and the class of the objects that have it."""

    cls: ClassRef
    name: str

    @property
    def stem(self) -> str:
        return self.name.lstrip("_")


def _method_intents(draws: Sequence[Draw], model: Model) -> tuple[Intent, ...]:
    """The accessor as a method of the class that stores the generator in one attribute."""
    kept = _kept_in(draws, model)
    library = library_of(draws[0].made) or ""
    form = FORMS.get(library)
    heirs = _readers(kept, model) if kept is not None else None
    if kept is None or form is None or heirs is None:
        return ()
    place, stem = model.class_place(kept.cls), kept.stem
    intents: list[Intent] = []
    seed, in_main = _mixed_seed(form, draws, f"self.{kept.name}", model), ""
    if library == "torch":
        told = _torch_seed(draws, kept, model)
        if told is None:
            return ()
        seed, intents = told
        in_main = "" if _is_used_by_main(kept, model) else f" and self.{kept.name} is not None"
    lines = form.lines(seed, " " * 8)
    source = _METHOD.format(stem=stem, name=kept.name, seed=lines, make=form.make, kind=form.kind, in_main=in_main)
    intents.append(InsertMethod(place, f"_get_{stem}", source))
    for cls in (kept.cls, *heirs):
        keep = ("__init__", f"_get_{stem}", *_not_in_workers(cls, model))
        accessor = f"_get_{stem}" if cls.path != kept.cls.path else f"{{_get_{stem}}}"
        intents.append(ReplaceAttributeUses(model.class_place(cls), kept.name, f"self.{accessor}()", keep))
    return tuple(intents)


def _mixed_seed(form: Form, draws: Sequence[Draw], old: str, model: Model) -> str:
    """The seed of the new generator: from the next number of the old one, or from `fresh` alone if nothing seeds the
    old one. NumPy's Generator cannot be seeded later, so its constructor call decides. A seed from the system's entropy
    would make runs with the same `torch.manual_seed` differ."""
    is_unseeded = form is FORMS["numpy"] and all(
        seed_of(draw.made, model) == "" and not _holds(draw, "bit_generator", model) for draw in draws
    )
    return "fresh" if is_unseeded else form.seed.replace("OLD", old)


def _holds(draw: Draw, word: str, model: Model) -> bool:
    """Whether the file that creates the generator contains a word."""
    file = model.files.file(draw.made.site.frame.path)
    return file is None or any(piece.holds(word) for piece in file.pieces)


def _kept_in(draws: Sequence[Draw], model: Model) -> _Kept | None:
    """The attribute that all draws read: one of one class, which holds generators of one kind only and is not assigned
    by workers. None if there is no such attribute."""
    names = {origin.path for draw in draws for origin in draw.origins}
    if len(names) != 1 or not all(draw.origins for draw in draws):
        return None
    path = next(iter(names))
    if len(path) != 1:
        return None
    classes: set[ClassRef] = set()
    for owner in {origin.owner for draw in draws for origin in draw.origins}:
        if isinstance(owner, ModuleRef):
            return None
        cls = _keeping_class(owner, path[0], library_of(draws[0].made), model)
        if cls is None:
            return None
        classes.add(cls)
    if len(classes) != 1 or not all(has_plain_class(cls, model) for cls in classes):
        return None
    return _Kept(classes.pop(), path[0])


def _keeping_class(owner: object, name: str, library: str | None, model: Model) -> ClassRef | None:
    """The class whose own code sets the attribute of its objects."""
    if isinstance(owner, ClassRef):
        return owner if name in model.ev.classes.own_members(owner) else None
    if not isinstance(owner, Instance):
        return None
    stores = model.ev.classes.stores(owner, name)
    if any(not store.value.atoms or not all(_is_of(atom, library) for atom in store.value.atoms) for store in stores):
        return None
    if any(model.runs_in_worker(store.frame) for store in stores) or name in model.once(_given_from_outside):
        return None
    makers = {store.frame.owner for store in stores}
    if not makers:
        member = model.ev.classes.member(owner.cls, name)
        return member.owner if member else None
    return makers.pop() if len(makers) == 1 else None


def _given_from_outside(model: Model) -> frozenset[str]:
    """The attributes that worker code assigns to objects that are not known: a worker_init_fn that gives the datasets
    of `dataset.datasets` their generators. The accessor would not use these."""
    return frozenset(
        step.name
        for frame in model.reached
        for _, step in model.steps_of(frame, ir.SetAttr)
        if not (given := model.ev.eval(step.base, frame).atoms) or any(isinstance(atom, Unknown) for atom in given)
    )


def _is_of(atom: object, library: str | None) -> bool:
    return isinstance(atom, LibObject) and library_of(atom) == library


def _readers(kept: _Kept, model: Model) -> list[ClassRef] | None:
    """The classes derived from the one that keeps the generator whose own methods read it in workers, or would under
    other options. None if others read it too."""
    heirs: dict[ClassRef, None] = {}
    for frame in read_elsewhere(kept.cls, kept.name, model):
        cls = frame.owner
        if cls is None or kept.cls not in model.ev.classes.mro(cls):
            return None
        if frame in read_elsewhere(cls, kept.name, model):
            return None
        heirs[cls] = None
    for cls in model.callers.subclasses(kept.cls):
        run = model.ev.classes.own_members(cls).keys() - _not_in_workers(cls, model)
        if any(_names(cls, method, kept.name, model) for method in run):
            heirs[cls] = None
    if any(f"_get_{kept.stem}" in model.ev.classes.own_members(cls) for cls in heirs):
        return None
    return list(heirs)


def _torch_seed(draws: Sequence[Draw], kept: _Kept, model: Model) -> tuple[str, list[Intent]] | None:
    """The seed of another `torch.Generator`, and what the constructor must store for it. None if it cannot be made
    again."""
    store = own_store(draws[0], model)
    has_state = any(model.ev.classes.member(kept.cls, name) for name in ("__getstate__", "__setstate__"))
    if store is None or has_state or pickles_itself(kept.cls, model):
        return None
    if _is_used_by_main(kept, model):
        calls = {(def_key(draw.made.site.frame), draw.made.site.expr) for draw in draws}
        is_of_one = len(calls) == 1 and all(is_of_cpu(draw.made, model) for draw in draws)
        return (f"hash((self.{kept.name}.initial_seed(), fresh))", []) if is_of_one else None
    seeds = {seed_of(draw.made, model) for draw in draws}
    seed = seeds.pop()
    if seeds or seed is None:
        return None
    if seed == "" or seed.isdigit():
        return f"hash(({seed}, fresh))" if seed else "fresh", []
    attribute = f"self._{kept.stem}_seed"
    keep = InsertStatement(model.step_place(store.frame, store.step), f"{attribute} = {seed}")
    return f"hash(({attribute} or 0, fresh))", [keep]


def _is_used_by_main(kept: _Kept, model: Model) -> bool:
    """Whether a method that workers do not run uses the generator: one that gives it another seed, say."""
    return any(_names(kept.cls, method, kept.name, model) for method in _not_in_workers(kept.cls, model))


def _left_out(generators: Sequence[Sequence[Draw]], intents: Iterable[Intent], model: Model) -> list[Intent]:
    """The `__getstate__` that leaves out the generators of torch, and the `__setstate__` that makes those again which
    methods of the main process use."""
    every = [_kept_in(draws, model) for draws in generators if library_of(draws[0].made) == "torch"]
    left = sorted((kept for kept in every if kept is not None), key=lambda kept: kept.name)
    if not left:
        return []
    cls = next(intent.cls for intent in intents if isinstance(intent, InsertMethod))
    used = [kept for kept in left if _is_used_by_main(kept, model)]
    forms = ((_SEED_LEFT if kept in used else _LEFT_OUT, kept) for kept in left)
    lines = "\n".join(form.format(name=kept.name, stem=kept.stem) for form, kept in forms)
    methods: list[Intent] = [InsertMethod(cls, "__getstate__", _GETSTATE.format(left_out=lines))]
    if used:
        made = "\n".join(_MADE_AGAIN.format(name=kept.name) for kept in used)
        methods.append(InsertMethod(cls, "__setstate__", _SETSTATE.format(made=made)))
    return methods


def _names(cls: ClassRef, method: str, attribute: str, model: Model) -> bool:
    """Whether the text of a method of the class, other than `__init__`, contains the attribute's name."""
    function = model.ev.classes.own_members(cls)[method].function
    file = model.files.file(function.path) if function is not None else None
    if method == "__init__" or function is None or file is None:
        return False
    return file.pieces[function.piece].holds(attribute)


def own_store(draw: Draw, model: Model) -> Store | None:
    """The only assignment of the generator to an attribute of the object that draws from it, in some `__init__`."""
    for origin in draw.origins:
        if not isinstance(origin.owner, Instance) or len(origin.path) != 1:
            continue
        stores = model.ev.classes.stores(origin.owner, origin.path[0])
        if len(stores) != 1 or stores[0].frame != draw.made.site.frame or stores[0].value.atoms != {draw.made}:
            continue
        if model.def_of(stores[0].frame).name == "__init__" and has_plain_class(origin.owner.cls, model):
            return stores[0]
    return None


def is_kept_at(draw: Draw, cls: ClassRef, name: str, model: Model) -> bool:
    """Whether a draw reads the generator from attribute `name` of objects of `cls`, and from nowhere else."""
    return bool(draw.origins) and all(
        isinstance(origin.owner, Instance) and origin.path == (name,) and cls in model.ev.classes.mro(origin.owner.cls)
        for origin in draw.origins
    )


def _not_in_workers(cls: ClassRef, model: Model) -> list[str]:
    """The methods of the class that no worker runs: they keep using the old generator."""
    run = {def_key(frame) for frame in model.reached}
    return [
        member.name
        for member in model.ev.classes.own_members(cls).values()
        if member.function is not None and def_key(member.function) not in run
    ]
