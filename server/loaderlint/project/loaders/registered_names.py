"""The names under which code looks up a class, and under which classes are registered."""

from __future__ import annotations

import re

from loaderlint.facts import ir
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import ClassRef, Site

#: The name of a decorator that registers what it decorates.
_REGISTERS = re.compile("regist", re.IGNORECASE)


def literal_key(ev: Evaluator, made: Site) -> str:
    """The constant name by which a call looks up its class, as in `KINDS["crops"]()` and `KINDS.get("crops")()`; '' if
    there is none, or if users may set it."""
    call = ev.expr(made.frame, made.expr)
    looked_up = ev.expr(made.frame, call.func) if isinstance(call, ir.Call) else None
    key = looked_up.index if isinstance(looked_up, ir.Index) else ir.NONE
    if isinstance(looked_up, ir.Call) and looked_up.args and looked_up.args[0].kind == "pos":
        func = ev.expr(made.frame, looked_up.func)
        key = looked_up.args[0].value if isinstance(func, ir.Attr) and func.name == "get" else ir.NONE
    literal = ev.eval(key, made.frame).literal if key != ir.NONE else None
    if literal is None or literal.configured or not isinstance(literal.value, str):
        return ""
    return literal.value


def registered_names(ev: Evaluator, cls: ClassRef) -> frozenset[str]:
    """The names under which the decorators of a class register it: `@register("crops")`,
    `@DATASETS.register_module(name="crops")`. Empty if none of them gives it a name."""
    facts = ev.facts(cls.path, cls.piece)
    if facts is None or cls.def_ >= len(facts.ir.defs):
        return frozenset()
    exprs = facts.ir.exprs
    calls = [exprs[number] for number in facts.ir.defs[cls.def_].decorators]
    found = [
        exprs[arg.value]
        for call in calls
        if isinstance(call, ir.Call) and _REGISTERS.search(called_name(exprs, call.func))
        for arg in call.args
        if arg.kind == "pos" or arg.name == "name"
    ]
    return frozenset(e.value for e in found if isinstance(e, ir.Const) and isinstance(e.value, str))


def is_registered(ev: Evaluator, name: str) -> bool:
    """Whether a class of the project is registered under a name in sight."""
    for text in (f'"{name}"', f"'{name}'"):
        for path in ev.files.containing(text):
            file = ev.file(path)
            for index in file.mentioning(text) if file else ():
                is_one = file is not None and file.pieces[index].kind == "class"
                if is_one and name in registered_names(ev, ClassRef(path, index, 1)):
                    return True
    return False
