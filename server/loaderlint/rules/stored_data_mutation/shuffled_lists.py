"""Stored lists that worker code always shuffles before it reads them: their stored order decides nothing.

def __getitem__(self, index):
    clips = self.load(random.choice(self.names))  # keeps a list for each name
    random.shuffle(clips)
    return np.concatenate(clips[:2])"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import MUTATING_FUNCTIONS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibObject, Origin, SeqOf, Unknown, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.kept_state import own_attribute
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit

#: Why an edit changes no sample.
SHUFFLED = "worker code shuffles this list each time before it reads it: its stored order decides nothing"

_SHUFFLES = frozenset(name for name in MUTATING_FUNCTIONS if name.endswith(".shuffle"))
#: Calls after which a shuffle gives the same order each time.
SEEDS = frozenset({"seed", "manual_seed", "seed_everything", "set_state", "setstate"})
#: Functions that read one list beside another, or with the places of its items.
_PAIRS = frozenset({"builtins.zip", "builtins.enumerate"})
_LEN = frozenset({Lib("builtins.len")})
#: The methods of a cache that read no list in it.
_OF_CACHE = frozenset({"clear", "keys", "move_to_end", "popitem"})


def is_always_shuffled(edit: Edit, value: Val, origin: Origin, model: Model) -> bool:
    """Whether an edit shuffles a list in a container on self, and all worker code that runs on the object shuffles such
    a list before it reads its items, alone and without their places."""
    owner = origin.owner
    if edit.how != "`shuffle`" or not isinstance(owner, Instance) or not _is_list_in(owner, origin, value, model):
        return False
    return model.remembered(_are_shuffled, owner, origin.path[0])


def is_shuffle(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression shuffles its only argument."""
    call = frame.code.exprs[number]
    if not isinstance(call, ir.Call) or len(call.args) != 1 or call.args[0].kind != "pos":
        return False
    callee = model.ev.eval(call.func, frame).atoms
    return bool(callee) and callee <= {Lib(name) for name in _SHUFFLES}


def _is_list_in(owner: Instance, origin: Origin, value: Val, model: Model) -> bool:
    """Whether a value is a list in a container on self, and part of nothing else."""
    known = [one for one in value.atoms if not isinstance(one, Unknown)]
    place = (owner, origin.path[0])
    return (
        bool(known)
        and all(_is_list(one, model) for one in known)
        and len(origin.path) == 2
        and all((one.owner, one.path[0]) == place and len(one.path) == 2 for one in value.origins)
    )


def _is_list(atom: Atom, model: Model) -> bool:
    """Whether an atom is a list, perhaps one that `defaultdict(list)` has made."""
    if not isinstance(atom, LibObject):
        return isinstance(atom, SeqOf) and atom.kind == "list"
    taken = model.ev.expr(atom.site.frame, atom.site.expr)
    if atom.name != "collections.defaultdict[]" or not isinstance(taken, ir.Index):
        return False
    dicts = model.ev.eval(taken.base, atom.site.frame).only(LibObject)
    given = [model.ev.calls.site_arguments(one.site).positional[:1] for one in dicts]
    return bool(given) and all(one and one[0].atoms == {Lib("builtins.list")} for one in given)


def _are_shuffled(owner: Instance, field: str, model: Model) -> bool:
    frames = model.reached_on(owner)
    if any(frame.code.attribute_calls(SEEDS) for frame in frames):
        return False
    readers = [_Reader(owner, field, frame, model) for frame in frames]
    giving = {reader.frame for reader in readers if reader.gives_lists()}
    if not all(_is_helper(frame, owner, model) for frame in giving):
        return False
    return all(one.shuffles_first(giving) for one in readers)


def _is_helper(frame: Frame, owner: Instance, model: Model) -> bool:
    """Whether only other worker code of the object calls a method."""
    is_hook = model.def_of(frame).name.startswith("__")
    return not is_hook and all(caller.receiver == owner for caller, _ in model.callers_of(frame))


class _Reader:
    """A frame of worker code that may read the lists which a container on self holds."""

    def __init__(self, owner: Instance, field: str, frame: Frame, model: Model) -> None:
        self._owner = owner
        self._field = field
        self.frame = frame
        self._model = model
        self._exprs = frame.code.exprs
        self._written = frame.code.expressions()

    def gives_lists(self) -> bool:
        """Whether the frame returns one of the lists."""
        lists = {*self._taken(), *(step.value for _, step in self._stores())}
        return any(step.value in lists for _, step in self.frame.code.steps_of(ir.Return))

    def shuffles_first(self, giving: Set[Frame]) -> bool:
        """Whether the frame reads items of the lists only after a shuffle, beside no other stored items. `giving`: the
        frames that return such lists."""
        lists = self._lists(giving)
        shuffles = self._shuffles(lists)
        uses = [(number, self._exprs[number]) for number in self._written]
        of_lists = [(number, e) for number, e in uses if not lists.isdisjoint(ir.operands(e))]
        return (
            all(self._is_cache_use(e) for _, e in uses)
            and all(self._is_harmless(number, e, lists, shuffles) for number, e in of_lists)
            and all(
                self._is_harmless_step(number, step, lists, shuffles) for number, step in self._model.steps(self.frame)
            )
            and not self._reads_new()
            and not (shuffles and self._reads_others(lists))
        )

    def _lists(self, giving: Set[Frame]) -> set[int]:
        """The expressions that are one of the lists."""
        found = set(self._taken())
        for number in self._written:
            if isinstance(self._exprs[number], ir.Call) and not giving.isdisjoint(self._targets(number)):
                found.add(number)
        for number in sorted(self._written):
            e = self._exprs[number]
            if isinstance(e, ir.Phi) and e.choices and found.issuperset(e.choices):
                found.add(number)
        return found

    def _targets(self, number: int) -> tuple[Frame, ...]:
        return self._model.ev.targets(number, self.frame)

    def _taken(self) -> Iterator[int]:
        """The expressions that take a list out of the container."""
        for number in self._written:
            e = self._exprs[number]
            if isinstance(e, ir.Index) and self._is_container(e.base):
                yield number

    def _stores(self) -> Iterator[tuple[int, ir.SetItem]]:
        """The steps that put a list into the container."""
        return ((at, step) for at, step in self.frame.code.steps_of(ir.SetItem) if self._is_container(step.base))

    def _reads_new(self) -> bool:
        """Whether the frame reads a list that it has just put into the container, perhaps in its first order."""
        for at, step in self._stores():
            for number in self._written:
                read_at = self.frame.code.evaluated_by(number)
                if step.value in ir.operands(self._exprs[number]) and read_at is not None and read_at > at:
                    return True
        return False

    def _is_container(self, number: int) -> bool:
        return number != NONE and own_attribute(number, self.frame, self._model) == self._field

    def _shuffles(self, lists: set[int]) -> Mapping[int, list[int]]:
        """The steps that shuffle one of the lists, by its expression."""
        found: dict[int, list[int]] = {}
        for number, step in self.frame.code.steps_of(ir.Perform):
            shuffled = self._shuffled(step.call)
            if shuffled in lists:
                found.setdefault(shuffled, []).append(number)
        return found

    def _shuffled(self, number: int) -> int:
        """What a call shuffles; NONE for other calls."""
        call = self._exprs[number]
        is_known = isinstance(call, ir.Call) and is_shuffle(number, self.frame, self._model)
        return call.args[0].value if isinstance(call, ir.Call) and is_known else NONE

    # --- what may be done with the container and its lists ------------------------------------------------------------

    def _is_cache_use(self, e: ir.Expr) -> bool:
        """Whether an expression does not read the container, or only asks for a key, a list or its length."""
        if not any(map(self._is_container, ir.operands(e))):
            return True
        match e:
            case ir.Index(base, _):
                return self._is_container(base)
            case ir.Compare(_, ("in" | "not in",), _):
                return True
            case ir.Attr(_, name):
                return name in _OF_CACHE
        return self._is_length(e)

    def _is_length(self, e: ir.Expr) -> bool:
        return isinstance(e, ir.Call) and self._model.ev.eval(e.func, self.frame).atoms == _LEN

    def _is_harmless(self, number: int, e: ir.Expr, lists: set[int], shuffles: Mapping[int, list[int]]) -> bool:
        """Whether an expression does not depend on the stored order of its operands among the lists."""
        if number in lists or isinstance(e, ir.Unary) or self._is_length(e) or self._shuffled(number) != NONE:
            return True
        used = lists.intersection(ir.operands(e))
        at = self.frame.code.evaluated_by(number)
        return self._reads_whole(e) and at is not None and all(self._is_after(at, one, shuffles) for one in used)

    def _reads_whole(self, e: ir.Expr) -> bool:
        """Whether an expression goes over a list, passes it to a library, or takes the items at constant places or the
        first ones."""
        match e:
            case ir.Element():
                return True
            case ir.Index(_, index):
                places = [self._exprs[index]]
                if isinstance(places[0], ir.Slice):
                    bounds = places[0]._replace(upper=NONE) if places[0].lower == NONE else places[0]
                    places = [self._exprs[part] for part in ir.operands(bounds) if part != NONE]
                return all(isinstance(place, ir.Const) for place in places)
            case ir.Call(func, _):
                callee = self._model.ev.eval(func, self.frame).atoms
                return bool(callee) and all(isinstance(one, Lib) and one.name not in _PAIRS for one in callee)
        return False

    def _is_harmless_step(self, at: int, step: ir.Step, lists: set[int], shuffles: Mapping[int, list[int]]) -> bool:
        """Whether a step does not depend on the stored order of the lists, and passes none on but to its caller."""
        used = lists.intersection(ir.step_expressions(step))
        if not used or isinstance(step, ir.Bind | ir.Return | ir.Test | ir.Evaluate | ir.Perform):
            return True
        return isinstance(step, ir.Iterate) and all(self._is_after(at, one, shuffles) for one in used)

    def _is_after(self, at: int, shuffled: int, shuffles: Mapping[int, list[int]]) -> bool:
        """Whether a step always comes after a shuffle of expression `shuffled`."""
        one = self._model.def_of(self.frame)
        context = one.steps[at].context
        return any(
            before < at and one.is_within(context, one.steps[before].context) for before in shuffles.get(shuffled, ())
        )

    def _reads_others(self, lists: set[int]) -> bool:
        """Whether the frame reads items of other containers on self, but to find a list: they may belong to the items
        of a list in their old order."""
        to_find = set(ir.made_of(self._exprs, lists))
        return any(
            one.owner == self._owner and one.path[0] != self._field and len(one.path) > 1
            for number in self._written - to_find
            for one in self._model.ev.eval(number, self.frame).origins
        )
