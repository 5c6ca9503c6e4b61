"""The arguments of a call as values, and how they bind to parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from loaderlint.facts.ir import NONE, ParamIR
from loaderlint.project.evaluation.values import (
    LibMember,
    LibObject,
    MapOf,
    Namespace,
    SeqOf,
    Val,
    is_absent,
    present_or,
    unknown,
)

#: The reason of what a mapping passes that is read from a configuration file: it holds no function and no object.
FROM_FILE = "configuration file"
#: What a user may pass more arguments with.
Unpacked = Namespace | LibObject | LibMember


class Arguments(Struct, frozen=True):
    """The arguments of a call. `more_positional`, `more_keywords`: there are `*x` / `**x` whose items are not known;
    `source` is the reason. The value of a keyword that is not always passed contains `ABSENT`.
    `options`: the parsed command lines and the parts of configurations that `**x` unpacks, as in `**vars(args)` and
    `**cfg.loader`: a user may pass more with them. `source` is `FROM_FILE` if nothing but what is read from files may
    pass more."""

    positional: tuple[Val, ...] = ()
    keywords: tuple[tuple[str, Val], ...] = ()
    more_positional: bool = False
    more_keywords: bool = False
    source: str = "kwargs"
    options: tuple[Unpacked, ...] = ()

    def get(self, name: str, position: int | None = None) -> Val | None:
        """The argument called `name` or at `position` (0-based); None if it is not passed, unknown if `*x` or `**x` may
        pass it."""
        for keyword, value in self.keywords:
            if keyword == name:
                return value
        if position is not None and position < len(self.positional):
            return self.positional[position]
        if self.more_keywords or (position is not None and self.more_positional):
            return unknown(self._reason)
        return None

    @property
    def values(self) -> tuple[Val, ...]:
        """All arguments that are known, those without names first."""
        return (*self.positional, *(value for _, value in self.keywords))

    @property
    def _reason(self) -> str:
        """Why a parameter is not known: only a whole mapping must be told apart by where it comes from."""
        return "kwargs" if self.source == FROM_FILE else self.source

    def before(self, others: Arguments) -> Arguments:
        """These arguments followed by `others`, as `functools.partial` does: later keywords win."""
        return Arguments(
            self.positional + others.positional,
            tuple(overlaid((*self.keywords, *others.keywords)).items()),
            self.more_positional or others.more_positional,
            self.more_keywords or others.more_keywords,
            _source(self, others),
            self.options + others.options,
        )

    def fit(self, params: Sequence[ParamIR], receiver: bool) -> bool:
        """Whether a def with these parameters (with a receiver before the others, if there is one) accepts the
        arguments."""
        open_ = [param for param in params if param.kind in ("pos", "any")][receiver:]
        kinds = {param.kind for param in params}
        if len(self.positional) > len(open_) and "star" not in kinds:
            return False
        names = {name for name, _ in self.keywords}
        taken = open_[: len(self.positional)]
        if names & {param.name for param in taken if param.kind == "any"}:
            return False
        rest = [*open_[len(self.positional) :], *(param for param in params if param.kind == "kw")]
        if names - {param.name for param in rest if param.kind != "pos"} and "starstar" not in kinds:
            return False
        if self.more_positional or self.more_keywords:
            return True
        return all(param.default != NONE or param.name in names for param in rest)

    def bind(self, params: Sequence[ParamIR], receiver: Val | None) -> tuple[Val | None, ...]:
        """One value for each parameter, None if nothing is passed (its default applies). `receiver` fills the first."""
        bound: list[Val | None] = [None] * len(params)
        positional = list(self.positional)
        if receiver is not None:
            positional.insert(0, receiver)
        names = {name: value for name, value in self.keywords if not is_absent(value)}
        taken = 0
        for index, param in enumerate(params):
            if param.kind in ("pos", "any"):
                if taken < len(positional):
                    bound[index] = positional[taken]
                    taken += 1
                elif param.name in names and param.kind == "any":
                    bound[index] = names.pop(param.name)
                elif self.more_positional or self.more_keywords:
                    bound[index] = unknown(self._reason)
            elif param.kind == "star":
                rest = tuple(positional[taken:])
                bound[index] = unknown(self.source) if self.more_positional else _value(SeqOf("tuple", rest))
                taken = len(positional)
            elif param.kind == "kw":
                if param.name in names:
                    bound[index] = names.pop(param.name)
                elif self.more_keywords:
                    bound[index] = unknown(self._reason)
            else:
                for named in params:
                    if named.kind in ("any", "kw"):  # `*args` accepts no keyword: `args=...` is one of these
                        names.pop(named.name, None)
                more = (unknown(self.source),) if self.more_keywords else ()
                keys = (*names, *[None] * len(more))
                bound[index] = _value(MapOf(keys, (*names.values(), *more), options=self.options))
        return tuple(bound)


def _source(first: Arguments, second: Arguments) -> str:
    """Why not all of the arguments of two calls together are known."""
    is_open = [one for one in (first, second) if one.more_keywords or one.more_positional]
    if any(one.source == FROM_FILE for one in (first, second)):
        return next((one.source for one in is_open if one.source != FROM_FILE), FROM_FILE if is_open else "kwargs")
    return first.source


def named_parameters(params: Sequence[ParamIR]) -> list[str]:
    """The parameters that a keyword may pass."""
    return [param.name for param in params if param.kind in ("any", "kw")]


def overlaid(pairs: Iterable[tuple[str, Val]]) -> dict[str, Val]:
    """The items of a dict that gets these in this order. What may not be there leaves what was there before."""
    found: dict[str, Val] = {}
    for name, value in pairs:
        found[name] = present_or(value, found[name]) if name in found else value
    return found


#: The arguments of a call without any.
NO_ARGUMENTS = Arguments()


def _value(atom: SeqOf | MapOf) -> Val:
    return Val(frozenset({atom}))
