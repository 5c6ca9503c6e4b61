"""Options that code reads and that no parser of the project declares: `args.dir_demo` raises AttributeError, so a
program ends there, and an object whose constructor reads it never exists.

No code of the project may set it in another way: by a text with its name, with `set_defaults`, or as an attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.replaced_options import PARSE
from loaderlint.project.evaluation.values import Atom, FunctionRef, Instance, Namespace, Val
from loaderlint.project.evaluation.yaml_configurations import is_node
from loaderlint.project.modules.dependencies import needs_word

#: For each word the text with which a project may set options whose names it does not show. (`mkdir` has `parents=`,
#: too.)
_SETS_UNSEEN = {
    "parse_known_args": r"parse_known_args",
    "Namespace": r"\bNamespace\(",
    "set_defaults": r"set_defaults\(\s*\*\*",
    "parents": r"\bparents\s*=(?!\s*(?:True|False))",
    "namespace": r"\bnamespace\s*=",
    "add_argument": r"add_argument\(\s*(?:[^\s\"']|[\"'][^\"']*[\"']\s*[+%.])",
    "__dict__": r"__dict__",
}


class UnsetOptions:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._known: dict[str, bool] = {}
        self._sees_all: bool | None = None

    def lacks_option(self, made: Instance) -> bool:
        """Whether the constructor of an object always reads an option of a command line that is never there."""
        init = self._ev.classes.init_frame(made)
        return init is not None and any(map(self._is_unset, dict.fromkeys(_options_read(self._ev, init))))

    def read_in(self, one: ir.DefIR, here: Unframed) -> Iterator[int]:
        """The steps of a def that always read an option which is never there, whoever calls the def."""
        for step, e in _attributes_read(here.exprs, one):
            if _is_always_parsed(self._ev, e.base, here) and self._is_unset(e.name):
                yield step

    def read_of_arguments(self, frame: Frame) -> Iterator[int]:
        """The steps of a frame that always read such an option of an argument."""
        one, exprs = frame.code.one, frame.code.exprs
        for step, e in _attributes_read(exprs, one) if one is not None else ():
            if isinstance(exprs[e.base], ir.Param) and _is_parsed(self._ev, self._ev.eval(e.base, frame)):
                if self._is_unset(e.name):
                    yield step

    def _is_unset(self, name: str) -> bool:
        """Whether no code of the project may set an option of this name. A Namespace has methods of its own, such as
        `_get_kwargs`."""
        if name.startswith("_"):
            return False
        if self._sees_all is None:
            self._sees_all = not _sets_unseen(self._ev) and not _sets_by_name(self._ev)
        if not self._sees_all:
            return False
        if name not in self._known:
            self._known[name] = _is_nowhere(self._ev, name)
        return self._known[name]


def _attributes_read(exprs: tuple[ir.Expr, ...], one: ir.DefIR) -> Iterator[tuple[int, ir.Attr]]:
    """The attributes that a def always reads, each with the step that reads it first."""
    for step, read in ir.first_reads(exprs, one):
        e = exprs[read]
        if isinstance(e, ir.Attr):
            yield step, e


def _is_always_parsed(ev: Evaluator, number: int, here: Unframed) -> bool:
    """Whether an expression is what argparse makes of the command line in every frame of a def: a name of the module,
    or the result of a function that parses it."""
    e = here.exprs[number]
    if not isinstance(e, ir.Call):
        value = here.value(number) if isinstance(e, ir.Global | ir.Imported) else None
        return value is not None and _is_parsed(ev, value)
    callee = here.exprs[e.func]
    if not isinstance(callee, ir.Attr) or callee.name not in PARSE:
        value = here.value(e.func)
        if value is None or not value.atoms or not all(_parses(ev, one) for one in value.atoms):
            return False
    return _is_parsed(ev, here.evaluated(number))


def _parses(ev: Evaluator, function: Atom) -> bool:
    """Whether the text of a function of the project parses the command line."""
    if not isinstance(function, FunctionRef):
        return False
    file = ev.file(function.path)
    return file is not None and any(file.pieces[function.piece].holds(word) for word in PARSE)


def _sets_unseen(ev: Evaluator) -> bool:
    """Whether a text of the project may set options whose names it does not show."""
    for word in _SETS_UNSEEN:
        for path in ev.files.containing(word):
            file = ev.file(path)
            if file is None or file.all_asking(_sets_unseen_with, word):
                return True
    return False


@needs_word
def _sets_unseen_with(text: str, word: str) -> bool:
    """Whether a text may set options whose names it does not show, with the function or argument `word`."""
    return re.search(_SETS_UNSEEN[word], text) is not None


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
            if isinstance(e, ir.Attr) and _is_parsed(ev, ev.eval(e.base, frame)):
                yield e.name


def _always(step: ir.Step, exprs: tuple[ir.Expr, ...]) -> tuple[ir.ExprId, ...]:
    """What a step evaluates, unless a part of it is evaluated on some ways only."""
    numbers = tuple(number for number in ir.step_expressions(step) if number != NONE)
    parts = (exprs[number] for number in ir.made_of(exprs, numbers))
    sometimes = any(isinstance(e, ir.BoolOp | ir.IfExp | ir.Comp | ir.Phi | ir.MakeDef) for e in parts)
    return () if sometimes else numbers


def _is_parsed(ev: Evaluator, value: Val) -> bool:
    """Whether a value is what argparse makes of the command line, and nothing else."""
    return (
        bool(value.atoms)
        and all(isinstance(one, Namespace) and one.how == "argparse" and not is_node(one) for one in value.atoms)
        and not any(_may_have_more(ev, one.path) for one in value.atoms if isinstance(one, Namespace))
    )


def _may_have_more(ev: Evaluator, path: Path) -> bool:
    """Whether code that is not in sight may add to the options that a file parses."""
    return ev.user_options.is_handed_out(path) or ev.user_options.is_extended(path)


def _is_nowhere(ev: Evaluator, name: str) -> bool:
    """Whether no code that holds a name may set an option of this name."""
    spellings = {name, name.replace("_", "-")}
    paths = {path for word in spellings for path in ev.files.containing(word)}
    return all(_only_reads(ev, path, spellings) for path in sorted(paths))


def _only_reads(ev: Evaluator, path: Path, spellings: set[str]) -> bool:
    file = ev.file(path)
    pieces = {piece for word in spellings for piece in file.mentioning(word)} if file is not None else set()
    facts = [ev.facts(path, piece) for piece in sorted(pieces)]
    return file is not None and all(one is not None and not _mentions(one, spellings) for one in facts)


def _mentions(facts: PieceFacts, spellings: set[str]) -> bool:
    """Whether a piece may set an option of one of these names: with a text, with `set_defaults`, or by storing an
    attribute of another object than its own."""
    exprs = facts.ir.exprs
    word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(spellings)))})(?![\w-])")
    for e in exprs:
        match e:
            case ir.Const("str", str(text)) if word.search(text):
                return True
            case ir.Call(func, args) if any(arg.name in spellings for arg in args):
                if called_name(exprs, func) == "set_defaults":
                    return True
    steps = [step for one in facts.ir.defs for step in one.steps]
    names = [one.name for one in steps if isinstance(one, ir.SetAttr) and not ir.is_self(exprs[one.base])]
    return not spellings.isdisjoint(names)
