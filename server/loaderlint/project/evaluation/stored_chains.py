"""What code has just stored under names of an object that is not known: after `config.training.workers = 2`,
`config.training.workers` is 2, whatever `config` is. `later_attributes` knows the attributes of records themselves.

Only what is certain counts: the store is above in the same block of the same function, or of the same module, and
nothing between may store something else there or binds the object's name again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.attribute_assignments import may_assign
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    DefKey,
    FunctionRef,
    Lib,
    LibMember,
    Site,
    Unknown,
    Val,
    def_key,
)
from loaderlint.project.modules.project_files import MODULE, ProjectFile

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: What runs at most once when the code around it does.
_BRANCHES = ("if", "with")
#: Builtins that change the attributes of what they get, or show its dict.
_CHANGE = frozenset({"builtins.setattr", "builtins.delattr", "builtins.vars", "builtins.exec", "builtins.eval"})

#: Words in a file that may store attributes whose names are not written.
_WRITERS = ("setattr", "__dict__", "vars(", ".update(", ".merge", "exec(")


class _Chain(NamedTuple):
    """A name, or the number of a local's value, and the attributes that are read of it one after another."""

    root: str | int
    names: tuple[str, ...]

    def may_hold(self, other: _Chain) -> bool:
        """Whether another chain leads through what this one is."""
        return self.root == other.root and other.names[: len(self.names)] == self.names


class _Place(NamedTuple):
    """A step of a def or of module-level code, in the order in which they run."""

    frame: Frame
    number: int
    step: ir.Step


def stored_in_chain(ev: Evaluator, value: Val, read: Site) -> Val | None:
    """What an attribute certainly is where it is read, because the code above stores it; None if that is not certain.
    `value`: what is known of it otherwise."""
    if not value.atoms or not all(isinstance(atom, Unknown | LibMember) for atom in value.atoms):
        return None
    code = read.frame.code
    if read.frame.def_ and not code.steps_of(ir.SetAttr):
        return None
    chain = _chain(code, read.expr)
    here = code.evaluated_by(read.expr)
    if chain is None or len(chain.names) < 2 or here is None or code.one is None:
        return None
    name = chain.names[-1]
    if isinstance(chain.root, str):
        places = list(_above_in_module(ev, read, here, name))
    else:
        places = [_Place(read.frame, number, step) for number, step in enumerate(code.one.steps[:here])]
    store = next((one for one in reversed(places) if _stores(one, chain)), None)
    if store is None or not _always_precedes(ev, store, read):
        return None
    after = places[places.index(store) + 1 :]
    if any(_may_change(ev, one, chain) for one in after) or _is_stored_by_others(ev, read.frame, name):
        return None
    return ev.eval(store.step.value, store.frame)  # type: ignore[union-attr]


def _chain(code: Code, number: int) -> _Chain | None:
    names: list[str] = []
    e = code.exprs[number] if number != NONE else None
    while isinstance(e, ir.Attr):
        names.append(e.name)
        number = e.base
        e = code.exprs[number]
    if e is None or isinstance(e, ir.Imported) or ir.is_self(e):
        return None
    return _Chain(e.name if isinstance(e, ir.Global) else number, tuple(reversed(names)))


def _above_in_module(ev: Evaluator, read: Site, here: int, name: str) -> Iterator[_Place]:
    """The steps at module level that run before an expression there, if the attribute is stored in its file."""
    frame, file = read.frame, ev.file(read.frame.path)
    if frame.def_ != 0 or file is None or not file.all_asking(may_assign, name, scope=MODULE):
        return
    for piece, _ in file.asking(_is_no_def, scope=MODULE):
        code = ev.body(frame.path, piece).code if piece <= frame.piece else None
        steps = code.one.steps if code is not None and code.one is not None else ()
        for number, step in enumerate(steps[:here] if piece == frame.piece else steps):
            yield _Place(ev.body(frame.path, piece), number, step)


def _is_no_def(text: str) -> bool:
    return not text.startswith(("def ", "class ", "async def ", "@", "import ", "from "))


def _stores(place: _Place, chain: _Chain) -> bool:
    step = place.step
    if not isinstance(step, ir.SetAttr) or step.name != chain.names[-1]:
        return False
    base = _chain(place.frame.code, step.base)
    return base is not None and base == _Chain(chain.root, chain.names[:-1])


def _always_precedes(ev: Evaluator, store: _Place, read: Site) -> bool:
    """Whether a store runs each time before an expression further down is evaluated: no loop is around that alone."""
    one, file = read.frame.code.one, ev.file(store.frame.path)
    if one is None or file is None or not isinstance(store.step, ir.SetAttr) or store.step.value == NONE:
        return False
    context, until = read.frame.code.context_of(read.expr), 0
    if store.frame is read.frame:
        until = store.step.context
        if not one.is_within(context, until):
            return False
    elif store.step.context != 0 or not _is_in_block(file, store.frame.piece, read.frame.piece):
        return False
    while context != until:
        if one.contexts[context].kind not in _BRANCHES:
            return False
        context = one.contexts[context].parent
    return True


def _is_in_block(file: ProjectFile, first: int, piece: int) -> bool:
    """Whether a piece at module level stands in the block of the piece `first`, or in branches of it."""
    block = file.pieces[first].parent
    for clause in (*file.around(piece), -1):
        if clause == block:
            return True
        if file.is_loop(clause):
            return False
    return False


def _may_change(ev: Evaluator, place: _Place, chain: _Chain) -> bool:
    """Whether a step may store something else under a chain."""
    code, step = place.frame.code, place.step
    match step:
        case ir.SetAttr(_, base, attribute):
            through = _chain(code, base)
            return through is not None and _Chain(through.root, (*through.names, attribute)).may_hold(chain)
        case ir.SetItem(_, base):
            through = _chain(code, base)
            return through is not None and through.may_hold(chain)
        case ir.Delete(_, target):
            through = _chain(code, target)
            return through is not None and through.root == chain.root
        case ir.Bind(_, bound):
            return bound == chain.root
        case ir.Perform(_, number):
            call = code.exprs[number]
            return isinstance(call, ir.Call) and _may_change_by(ev, call, place.frame, chain)
    return False


def _may_change_by(ev: Evaluator, call: ir.Call, frame: Frame, chain: _Chain) -> bool:
    func = frame.code.exprs[call.func]
    receiver = _chain(frame.code, func.base) if isinstance(func, ir.Attr) else None
    if receiver is not None and ("__dict__" in receiver.names or receiver.may_hold(chain)):
        return True
    passed = (_chain(frame.code, arg.value) for arg in call.args)
    if not any(one is not None and one.may_hold(chain) for one in passed):
        return False
    atoms = ev.eval(call.func, frame).atoms
    return not atoms or any(_may_change_what_it_gets(ev, atom) for atom in atoms)


def _may_change_what_it_gets(ev: Evaluator, callee: Atom) -> bool:
    """Whether something that is called may store attributes of its arguments, whatever their names."""
    if isinstance(callee, FunctionRef | ClassRef):
        file = ev.file(callee.path)
        return file is None or any(file.mentioning(word) for word in _WRITERS)
    return not isinstance(callee, Lib) or callee.name in _CHANGE


def _is_stored_by_others(ev: Evaluator, frame: Frame, name: str) -> bool:
    """Whether a function other than this one stores an attribute of this name: it may be called between."""
    return any(key != def_key(frame) for key in _storing(ev, name))


def _storing(ev: Evaluator, name: str) -> Iterator[DefKey]:
    """The functions that store an attribute of this name."""
    for path in ev.files.containing(f".{name}"):
        file = ev.file(path)
        for piece in file.all_asking(may_assign, name) if file is not None else ():
            facts = ev.facts(path, piece)
            for number, one in enumerate(facts.ir.defs if facts is not None else ()):
                if number and any(isinstance(step, ir.SetAttr) and step.name == name for step in one.steps):
                    yield path, piece, number
