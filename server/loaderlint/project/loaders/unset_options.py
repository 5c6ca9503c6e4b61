"""Constructors that read an option which no parser of the project declares: `args.dir_demo` raises AttributeError, so
the object never exists.

This only matters for classes that are looked up by a name, of which nobody knows whether a program ever uses them. The
name of the option must not occur in the project in any other way: as a text, a keyword, an attribute that is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Namespace
from loaderlint.project.evaluation.yaml_configurations import is_node

#: A project with one of these words may have options whose names no text shows.
_SETS_UNSEEN = ("parse_known_args", "Namespace", "set_defaults", "parents", "__dict__")


def lacks_option(ev: Evaluator, made: Instance) -> bool:
    """Whether the constructor of an object always reads an option of a command line that is never there."""
    init = ev.classes.init_frame(made)
    if init is None or not any(_is_nowhere(ev, name) for name in dict.fromkeys(_options_read(ev, init))):
        return False
    return not any(ev.files.containing(word) for word in _SETS_UNSEEN) and not _sets_by_name(ev)


def _sets_by_name(ev: Evaluator) -> bool:
    """Whether some code stores in an object, other than its own, under a name that no text may show:
    `setattr(args, key, value)`, `vars(args)[key] = value`, `vars(args).update(values)`."""
    for word in ("setattr", "vars"):
        for path in ev.files.containing(word):
            file = ev.file(path)
            pieces = [ev.facts(path, piece) for piece in file.mentioning(word)] if file is not None else [None]
            if any(facts is None or _stores_by_name(facts) for facts in pieces):
                return True
    return False


def _stores_by_name(facts: PieceFacts) -> bool:
    exprs = facts.ir.exprs
    calls = [(number, e, exprs[e.func]) for number, e in enumerate(exprs) if isinstance(e, ir.Call)]
    named = [(number, e, func.name) for number, e, func in calls if isinstance(func, ir.Global)]
    if any(name == "setattr" and not (e.args and ir.is_self(exprs[e.args[0].value])) for _, e, name in named):
        return True
    dicts = {number for number, _, name in named if name == "vars"}
    stored = {step.base for one in facts.ir.defs for step in one.steps if isinstance(step, ir.SetItem)}
    held = {step.value for one in facts.ir.defs for step in one.steps if isinstance(step, ir.Bind)}
    return not dicts.isdisjoint(stored | held) or any(isinstance(e, ir.Attr) and e.base in dicts for e in exprs)


def _options_read(ev: Evaluator, frame: Frame) -> Iterator[str]:
    """The options that a def reads whenever it runs."""
    one, exprs = frame.code.one, frame.code.exprs
    for step in one.steps if one is not None else ():
        if isinstance(step, ir.Return | ir.Raise) or step.context != 0:
            return
        for number in ir.made_of(exprs, _always(step, exprs)):
            e = exprs[number]
            if isinstance(e, ir.Attr) and _is_parsed(ev, e.base, frame):
                yield e.name


def _always(step: ir.Step, exprs: tuple[ir.Expr, ...]) -> tuple[ir.ExprId, ...]:
    """What a step evaluates, unless a part of it is evaluated on some ways only."""
    numbers = tuple(number for number in ir.step_expressions(step) if number != NONE)
    parts = (exprs[number] for number in ir.made_of(exprs, numbers))
    sometimes = any(isinstance(e, ir.BoolOp | ir.IfExp | ir.Comp | ir.Phi | ir.MakeDef) for e in parts)
    return () if sometimes else numbers


def _is_parsed(ev: Evaluator, number: int, frame: Frame) -> bool:
    """Whether an expression is what argparse makes of the command line, and nothing else."""
    atoms = ev.eval(number, frame).atoms
    return (
        bool(atoms)
        and all(isinstance(one, Namespace) and one.how == "argparse" and not is_node(one) for one in atoms)
        and not any(ev.user_options.is_handed_out(one.path) for one in atoms if isinstance(one, Namespace))
    )


def _is_nowhere(ev: Evaluator, name: str) -> bool:
    """Whether all code that holds a name only reads an attribute of this name."""
    spellings = {name, name.replace("_", "-")}
    paths = {path for word in spellings for path in ev.files.containing(word)}
    return all(_only_reads(ev, path, spellings) for path in sorted(paths))


def _only_reads(ev: Evaluator, path: Path, spellings: set[str]) -> bool:
    file = ev.file(path)
    pieces = {piece for word in spellings for piece in file.mentioning(word)} if file is not None else set()
    facts = [ev.facts(path, piece) for piece in sorted(pieces)]
    return file is not None and all(one is not None and not _mentions(one, spellings) for one in facts)


def _mentions(facts: PieceFacts, spellings: set[str]) -> bool:
    """Whether a piece has a name otherwise than as an attribute that it reads, or stores in its own object."""
    for e in facts.ir.exprs:
        match e:
            case ir.Const("str", str(text)) if any(word in text for word in spellings):
                return True
            case ir.Call(_, args) if any(arg.name in spellings for arg in args):
                return True
            case ir.Global(name) | ir.Capture(_, name) if name in spellings:
                return True
    steps = [step for one in facts.ir.defs for step in one.steps]
    names = [step.name for step in steps if isinstance(step, ir.Bind)]
    names += [one.name for one in steps if isinstance(one, ir.SetAttr) and not ir.is_self(facts.ir.exprs[one.base])]
    names += [param.name for one in facts.ir.defs for param in one.params]
    return not spellings.isdisjoint(names)
