"""Values of an attribute that are gone when it is read, because other code always stores another one before. The other
one may be made of the first: `self.data = Subset(self.data, indices)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.loader_consumers import LOADER_HOOK, SETUP_HOOKS, STAGED_MODULES
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.classes import Store
    from loaderlint.project.evaluation.evaluator import Evaluator

#: A step of a def, and its context.
_Position = tuple[int, int]


def after_construction(ev: Evaluator, inst: Instance, name: str, stores: tuple[Store, ...]) -> tuple[Store, ...]:
    """Those of the stores of attribute `name` whose value an object may hold when its constructor has returned."""
    made = [store for store in stores if store.construction]
    gone = {store for store in made if not store.lasts}
    later = [store for store in made if _is_other(store, name)] if len(made) > 1 else []
    init = ev.classes.init_frame(inst) if later else None
    if init is not None:
        gone |= {s for s in made if any(_hides(one, s) and _always_follows(ev, init, one, s) for one in later)}
    return tuple(store for store in stores if store not in gone)


def replaced_by_others(ev: Evaluator, inst: Instance, name: str, stores: tuple[Store, ...]) -> tuple[Store, ...]:
    """Those of the stores of attribute `name` whose value the constructor always replaces by one that is not made of
    it."""
    made = [store for store in stores if store.construction]
    later = [store for store in made if store.step not in store.frame.code.holding(name)] if len(made) > 1 else []
    init = ev.classes.init_frame(inst) if later else None
    if init is None:
        return ()
    return tuple(s for s in made if any(one is not s and _always_follows(ev, init, one, s) for one in later))


def before_loaders(ev: Evaluator, stores: tuple[Store, ...], name: str) -> tuple[Store, ...]:
    """Those of the stores whose value a hook of Lightning that makes a loader may see: a trainer has called the hooks
    before it."""
    later = [
        one for one in stores if _rank(one) == len(SETUP_HOOKS) and _is_other(one, name) and _is_made_at_stage(one)
    ]
    return tuple(
        store
        for store in stores
        if not any(
            _hides(one, store) and (_rank(store) < _rank(one) or _is_further_down(ev, one, store)) for one in later
        )
    )


def makes_loader(ev: Evaluator, inst: Instance, frame: Frame) -> bool:
    """Whether a frame is a hook with which a trainer of Lightning makes a loader."""
    one = ev.def_of(frame)
    return one is not None and one.name.endswith(LOADER_HOOK) and _is_staged(ev, inst)


def may_be_gone(ev: Evaluator, value: Val) -> frozenset[Atom]:
    """The objects in the value of an attribute that another method replaces by what it makes of them. Nobody knows if
    it has run."""
    gone: set[Atom] = set()
    for origin in value.origins:
        if isinstance(origin.owner, Instance) and len(origin.path) == 1 and origin.relation == "same":
            gone.update(_wrapped_elsewhere(ev.classes.stores(origin.owner, origin.path[0]), origin.path[0]))
    return frozenset(gone)


def _wrapped_elsewhere(stores: tuple[Store, ...], name: str) -> Iterator[Atom]:
    for one in stores:
        if one.construction or one.step not in one.frame.code.wrapping(name) or not _is_made_at_stage(one):
            continue
        for store in stores:
            if _hides(one, store) and (store.frame is not one.frame or store.step < one.step):
                yield from store.value.atoms


def _is_other(store: Store, name: str) -> bool:
    """Whether the value of a store is known not to be what the attribute held before."""
    if store.step not in store.frame.code.holding(name):
        return True
    return bool(store.value.atoms) and all(map(_is_object, store.value.atoms))


def _is_object(atom: Atom) -> bool:
    return isinstance(atom, Instance | LibObject) and atom.site is not None


def _hides(store: Store, earlier: Store) -> bool:
    """Whether two stores store different objects."""
    return store is not earlier and store.value.atoms.isdisjoint(earlier.value.atoms)


# --- the order of the code --------------------------------------------------------------------------------------------


def _always_follows(ev: Evaluator, init: Frame, store: Store, earlier: Store) -> bool:
    """Whether the constructor always makes a store after another one, in one method or by its calls of two."""
    if store.frame is earlier.frame:
        return _is_further_down(ev, store, earlier)
    before = _positions(ev, init, earlier)
    after = _positions(ev, init, store) if store.sure or store.frame is init else ()
    return bool(before) and any(all(_is_passed_after(init, one, other) for other in before) for one in after)


def _is_further_down(ev: Evaluator, store: Store, earlier: Store) -> bool:
    """Whether a method makes a store whenever it has made another one."""
    if store.frame is not earlier.frame:
        return False
    here = (store.step, _context(ev, store))
    return _is_passed_after(store.frame, here, (earlier.step, _own_context(earlier)))


def _is_passed_after(frame: Frame, position: _Position, other: _Position) -> bool:
    """Whether a def always comes to a position after another one."""
    (step, context), (earlier, around) = position, other
    one = frame.code.one
    return one is not None and step > earlier and frame.code.is_branch(context) and one.is_within(around, context)


def _positions(ev: Evaluator, init: Frame, store: Store) -> list[_Position]:
    """The places of the constructor at which it makes a store: itself, or by a call of the method that does."""
    if store.frame is init:
        return [(store.step, _context(ev, store))]
    one = ev.def_of(store.frame)
    calls = init.code.attribute_calls({one.name}) if one is not None else []
    found: list[_Position] = []
    for step, _ in calls:
        call = ev.expr(init, step.call)
        number = init.code.performed_by(call) if isinstance(call, ir.Call) else None
        if number is not None and store.frame in ev.targets(step.call, init):
            found.append((number, ev.liveness.run_with(step.context, init)))
    return found


def _context(ev: Evaluator, store: Store) -> int:
    """The outermost context that never runs without a store."""
    return ev.liveness.run_with(_own_context(store), store.frame)


def _own_context(store: Store) -> int:
    one = store.frame.code.one
    return one.steps[store.step].context if one is not None else 0


# --- hooks of Lightning -----------------------------------------------------------------------------------------------


def _is_staged(ev: Evaluator, inst: Instance) -> bool:
    return any(base.rpartition(".")[2] in STAGED_MODULES for base in ev.classes.library_bases(inst.cls))


def _rank(store: Store) -> int:
    """The place of a store's method in the order in which a trainer calls it; a high number if it does not."""
    if store.construction:
        return 0
    one = store.frame.code.one
    is_hook = one is not None and one.name in SETUP_HOOKS
    return SETUP_HOOKS.index(one.name) + 1 if one is not None and is_hook else len(SETUP_HOOKS) + 1


def _is_made_at_stage(store: Store) -> bool:
    """Whether a method always makes a store, but for tests of its argument alone: `if stage == "fit":`."""
    one = store.frame.code.one
    if store.sure or one is None:
        return store.sure
    return all(
        here.kind == "if" and _asks_for_stage(store.frame, here.expr) for here in one.around(_own_context(store))
    )


def _asks_for_stage(frame: Frame, test: int) -> bool:
    parts = [frame.code.exprs[number] for number in ir.made_of(frame.code.exprs, (test,))]
    asked = {e.index for e in parts if type(e) is ir.Param}
    return asked == {1} and not any(isinstance(e, ir.Call | ir.Attr | ir.Global) for e in parts)
