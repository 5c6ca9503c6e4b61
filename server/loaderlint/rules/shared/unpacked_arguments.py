"""What the dicts that a call unpacks (`**options`) cannot hold: an argument that is added beside them must not be
passed twice, which raises TypeError.

That a dict is known without the argument is not enough, because other code may fill it. It is enough where the code
shows all that happens to it, or where nothing in the project names the argument."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.items_at_use import with_items_at
from loaderlint.project.evaluation.limits import MAX_CALLERS
from loaderlint.project.evaluation.lost_calls import is_stored
from loaderlint.project.evaluation.unpacked_dicts import is_as_written
from loaderlint.project.evaluation.values import Atom, FunctionRef, MapOf, Site, def_key
from loaderlint.project.loaders.unnamed_arguments import has_users, is_named
from loaderlint.project.modules.project_files import MODULE
from loaderlint.project.reach.model import Model
from loaderlint.syntax.main_guard import is_main_guard

#: The methods of a dict of which the evaluator knows what they store, or that store nothing.
_METHODS = frozenset("get items keys pop setdefault update values".split())


def lack(site: Site, name: str, model: Model) -> bool:
    """Whether nothing that the call at `site` unpacks can hold the argument `name`, whoever runs the call. So it is if
    it unpacks nothing."""
    call = model.ev.expr(site.frame, site.expr)
    dicts = [arg.value for arg in call.args if arg.kind == "starstar"] if isinstance(call, ir.Call) else []
    if not isinstance(call, ir.Call) or not dicts:
        return True
    callers = model.callers.frames(*def_key(site.frame))
    if len(callers) >= MAX_CALLERS:
        return False  # there may be more
    return all(_lacks(number, call, name, frame, model) for frame in {site.frame, *callers} for number in dicts)


def _lacks(number: int, call: ir.Call, name: str, frame: Frame, model: Model) -> bool:
    """Whether the dict that a call unpacks does not hold an argument in this frame, and cannot get it."""
    value = model.ev.eval(number, frame)
    value = with_items_at(model.ev, value, number, frame.code.performed_by(call), frame)
    updates = [given for one in ir.made_of(frame.code.exprs, [number]) for given in _updates(one, frame)]
    values = [value, *(model.ev.eval(given, frame) for given in updates)]
    if not all(one.atoms for one in values) or any(_may_hold(atom, name) for one in values for atom in one.atoms):
        return False
    if _shows_all(number, frame, model):
        return True
    return not is_named(model.ev, name) and not (_is_passed(number, frame) and _is_called_outside(frame.path, model))


def _is_passed(number: int, frame: Frame) -> bool:
    """Whether callers of a def pass what an expression is made of."""
    exprs = frame.code.exprs
    return any(isinstance(exprs[one], ir.Param | ir.Capture) for one in ir.made_of(exprs, [number]))


def _may_hold(atom: Atom, name: str) -> bool:
    return not isinstance(atom, MapOf) or None in atom.keys or name in atom.keys


def _updates(number: int, frame: Frame) -> Iterator[int]:
    """The dicts whose items a def adds to the dict that expression `number` makes: `options.update(others)`."""
    for _, _, call, method in frame.code.method_calls(number):
        if method == "update":
            yield from (arg.value for arg in call.args if arg.kind != "kw")


def _shows_all(number: int, frame: Frame, model: Model) -> bool:
    """Whether the code shows all that a dict holds: what makes it is written here, and what happens to it then is."""
    waiting, seen = [number], set[int]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue  # a loop makes a dict of an earlier one
        seen.add(one)
        parts = _parts(one, frame, model)
        if parts is None:
            return False
        waiting += parts
    return True


def _parts(number: int, frame: Frame, model: Model) -> list[int] | None:
    """The dicts that a dict is one of, or has the items of; None if other code may fill it."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Global):
        return [] if is_as_written(model.ev, number, frame) else None
    if not _stays(number, frame):
        return None
    updates = list(_updates(number, frame))
    match e:
        case ir.Phi(choices):
            return [*updates, *choices]
        case ir.IfExp(_, then, other):
            return [*updates, then, other]
        case ir.Map(keys, values):
            return [*updates, *(value for key, value in zip(keys, values, strict=True) if key == NONE)]
        case ir.Call(func, args) if model.ev.expr(frame, func) == ir.Global("dict"):
            return [*updates, *(arg.value for arg in args if arg.kind != "kw")]
        case ir.Param(index) if _is_of_known_calls(index, frame, model):
            return updates
    return None


def _is_of_known_calls(index: int, frame: Frame, model: Model) -> bool:
    """Whether a parameter is the `**options` of a function of the module that only known code calls."""
    one = model.def_of(frame)
    if one.params[index].kind != "starstar" or one.parent != 0 or frame.receiver is not None:
        return False
    function = FunctionRef(*def_key(frame))
    return not _is_called_outside(frame.path, model) and not is_stored(model.ev, function)


def _is_called_outside(path: Path, model: Model) -> bool:
    """Whether code of other projects may call the functions of a file: the project is a package, and the file no script
    that nothing imports."""
    file = model.files.file(path)
    is_script = file is not None and any(file.asking(is_main_guard, scope=MODULE))
    return has_users(model.ev, path) and not (is_script and not model.scripts.importers(path))


def _stays(number: int, frame: Frame) -> bool:
    """Whether no other code gets a dict that a def has under a local name."""
    one, exprs = frame.code.one, frame.code.exprs
    if one is None:
        return False
    names = {step.name for step in one.steps if isinstance(step, ir.Bind) and step.value == number}
    if isinstance(e := exprs[number], ir.Param):
        names.add(one.params[e.index].name)
    if any(isinstance(e, ir.Capture) and e.name in names for e in exprs):
        return False  # a function inside may fill it
    readers = [e for e in exprs if number in ir.operands(e)]
    return all(_keeps(e, number, exprs) for e in readers) and all(_is_kept_by(step, number) for step in one.steps)


def _keeps(reader: ir.Expr, number: int, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether an expression that reads a dict hands it to nothing else."""
    match reader:
        case ir.Attr(_, name):
            return name in _METHODS
        case ir.Index() | ir.Phi() | ir.IfExp() | ir.Compare() | ir.Text():
            return True
        case ir.Map(keys, values):
            return all(key == NONE for key, value in zip(keys, values, strict=True) if value == number)
        case ir.Call(func, args):
            is_copied = _copies(exprs[func])
            return all(arg.kind == "starstar" or is_copied for arg in args if arg.value == number)
    return False


def _copies(callee: ir.Expr) -> bool:
    """Whether a call takes the items of a dict and leaves the dict: `dict(options)`, `others.update(options)`."""
    return callee == ir.Global("dict") or (isinstance(callee, ir.Attr) and callee.name == "update")


def _is_kept_by(step: ir.Step, number: int) -> bool:
    """Whether a step leaves a dict in the def."""
    match step:
        case ir.Bind():
            return step.value != number or step.scope == "local"
        case ir.SetItem():
            return step.value != number
        case ir.Perform() | ir.Evaluate() | ir.Test() | ir.Delete():
            return True
    return number not in ir.step_expressions(step)
