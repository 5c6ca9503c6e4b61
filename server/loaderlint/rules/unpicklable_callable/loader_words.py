"""Names for several lambdas of one file that are the same argument of different loaders: after the loaders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.project.evaluation.values import FunctionRef
from loaderlint.project.reach.model import Loader, Model

#: What a lambda is called that is one of these arguments of a loader, and how if the loader is named.
_NAMES = {
    "collate_fn": (("collate", "collate_batch"), "collate_{}"),
    "worker_init_fn": (("init_worker", "init_loader_worker"), "init_{}_worker"),
}
_PLAIN = frozenset("data dataloader dataloaders dataset datasets dl ds iter loader loaders set".split())
_SUFFIX = re.compile(r"(?:data)?loader$")

_Said = tuple[object, ...]


def names_for_argument(argument: str, function: FunctionRef, model: Model) -> list[str]:
    """Names for a lambda that is an argument of loaders, the best first; none if the argument is another one. Only if
    the file has different ones does the name contain that of the loader."""
    if argument not in _NAMES:
        return []
    names, named = _NAMES[argument]
    said = model.once(_said_by_arguments).get((function.path, argument), {})
    words = said.get(_said(function, model), set[str]())
    of_loader = [named.format(*words)] if len(said) > 1 and len(words) == 1 and "" not in words else []
    return [*of_loader, *names]


def _said_by_arguments(model: Model) -> Mapping[tuple[Path, str], Mapping[_Said, set[str]]]:
    """The functions of each file that are such an argument of loaders: what they say, with the words of their
    loaders."""
    found: dict[tuple[Path, str], dict[_Said, set[str]]] = {}
    for loader in model.loaders:
        for argument in _NAMES:
            for atom in loader.argument(argument).only(FunctionRef):
                if said := _said(atom, model):
                    by_text = found.setdefault((atom.path, argument), {})
                    by_text.setdefault(said, set()).add(_word(loader))
    return found


def _said(function: FunctionRef, model: Model) -> _Said:
    """What a lambda says; of another function, such as one that a fix has moved, its name."""
    facts = model.ev.facts(function.path, function.piece)
    one = facts.ir.defs[function.def_] if facts is not None else None
    if facts is None or one is None:
        return ()
    if one.kind != "lambda":
        return (one.name,)
    exprs = facts.ir.exprs
    parts = [exprs[part] for step in one.steps for part in ir.made_of(exprs, ir.step_expressions(step))]
    return tuple(param.name for param in one.params), tuple(map(_own_words, parts))


def _own_words(e: ir.Expr) -> _Said:
    """What an expression says without its operands."""
    if isinstance(e, ir.Const | ir.Param):
        return type(e).__name__, *e
    names = [arg.name for arg in e.args] if isinstance(e, ir.Call) else []
    return type(e).__name__, *names, *(part for part in e if isinstance(part, str))


def _word(loader: Loader) -> str:
    """What the name of a loader says beside 'loader': 'train' of `train_loader`."""
    if loader.unheld:
        return ""
    words = [_SUFFIX.sub("", word) for word in loader.name.lower().split("_")]
    return "_".join(word for word in words if word.isidentifier() and word not in _PLAIN)
