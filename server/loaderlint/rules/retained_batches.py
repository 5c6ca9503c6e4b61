"""
# retained-batches (LDR408)

## What it does
Finds loops over a loader with workers that keep the batches, or tensors of them, in a list for the whole loop:
`labels.append(batch["label"])`, `outputs.append(x.cpu())`.

## Why is this bad?
A tensor that comes from a worker lies in shared memory, and on Linux holds a file descriptor as long as anything uses
that memory. Measured with torch 2.13 and 128 descriptors: the loop ends with `RuntimeError: Too many open files.
Communication with the workers is no longer possible.` after some 100 batches; with the usual 1024 after some 1000.
`.cpu()`, `.detach()`, `.numpy()`, `.view(...)`, slices and `.float()` of a float tensor copy nothing.

## When it is not a bug
- What is kept is a copy: `.clone()`, `.tolist()`, `.item()`, `.numpy().copy()`, a result of the model, `.to("cuda")`.
- `pin_memory=True` copies the batches (where there is a GPU); the sharing strategy `file_system` needs no descriptors.
- A short loop: a small validation set. The rule is therefore off unless it is selected.

## Example
```python
for images, labels in loader:
    kept.append(labels)
```

## Fixed
```python
for images, labels in loader:
    kept.append(labels.clone())
```

## Fix safety
Safe where a tensor is kept. There is no fix where what is kept is a whole batch, or may be no tensor.

## References
- [Sharing strategies](https://pytorch.org/docs/stable/multiprocessing.html#sharing-strategies)
- pytorch/pytorch#973, pytorch/pytorch#11201
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Evidence, Finding, Fix, Place, SetArgument, Severity, Silence, Wrap
from loaderlint.knowledge.arrays import TENSOR_MEMORY_ATTRIBUTES, TENSOR_MEMORY_METHODS
from loaderlint.project.evaluation.callers import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    Instance,
    Lib,
    LibObject,
    Literal_,
    MapOf,
    SeqOf,
    Site,
    Unknown,
    Val,
)
from loaderlint.project.reach.model import Loader, MainFunction, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.epoch_passes import may_loop
from loaderlint.rules.shared.judgement import loudness

#: What goes through a loader and gives its batches.
_PASSING = ("tqdm.", "builtins.iter", "rich.progress.track")
_MAX_STEPS = 12
#: What loaders are called, and what makes them.
_LOADER = re.compile(
    r"loader|dataset|batches|(?:^|_)dl(?:_|$)|(?:train|val|valid|test|eval)_(?:set|iter|data)", re.IGNORECASE
)
#: What a text holds that holds such a name: the patterns are looked for where their letters are, which is faster.
_NAMES = ("loader", "dataset", "batches")
_SHORT_NAME = re.compile(r"dl(?<![^\W_]dl)(?![^\W_])")
_SPLIT_NAME = re.compile(r"(?:train|val|valid|test|eval)_(?:set|iter|data)")
_KINDS = ("_set", "_iter", "_data")


class Append(NamedTuple):
    """`step` calls `append` of `to` with `kept`, directly in the loop that is context `loop`. `sources`: what is gone
    over, from whose items `kept` is taken."""

    step: ir.Perform
    to: int
    kept: int
    loop: int
    sources: frozenset[int]


class Kept(NamedTuple):
    """Part `number` of a batch of `loader`. `path`: how it is taken out of the batch. `tensor`: it is known to be one;
    `array`: it is NumPy's view of one."""

    number: int
    loader: Loader
    path: tuple[str | int, ...]
    tensor: bool
    array: bool


_STRATEGY = "the project chooses how tensors are shared: set_sharing_strategy"


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each place where batches are kept."""
    appends = _appends(function)
    if not any(_may_be_of_loader(append, function, model) for append in appends):
        return
    shared = any(model.callers.sites("set_sharing_strategy"))
    for frame in function.frames:
        loops = _loops(frame, model)
        for append in appends if loops else ():
            if not model.ev.liveness.is_dead(append.step.context, frame):
                for one in _kept_by(append, loops, frame, model):
                    yield Silence(RULE.name, one.place, _STRATEGY) if shared else one


def _any_shares(model: Model) -> bool:
    """Whether batches of any loader do (see `_shares`)."""
    return any(_shares(loader) for loader in model.loaders)


def _shares(loader: Loader) -> bool:
    """Whether the batches of a loader lie in shared memory of workers when main gets them."""
    pinned = loader.argument("pin_memory").literal
    return loader.has_workers() != "no" and pinned is not None and not pinned.value


def _may_keep(text: str) -> bool:
    """Whether a def in this text may keep batches (see `_appends`): most of what appends names no loader."""
    lowered = text.lower()
    named = any(name in lowered for name in _NAMES) or _SHORT_NAME.search(lowered) is not None
    if not named and any(kind in lowered for kind in _KINDS):
        named = _SPLIT_NAME.search(lowered) is not None
    return named and may_loop(text)


def _appends(function: MainFunction) -> list[Append]:
    """Where it is written that a part of each batch may be kept, in a def with a loop over what is called as a loader
    may be. To find who calls every function of a project with a loop would take most of a check."""
    steps = function.written.steps
    found = [one for step in steps if (one := _as_append(step, function)) is not None]
    sources = {step.iterable for step in steps if isinstance(step, ir.Iterate)} if found else set[int]()
    if not any(_may_be_a_loader(source, function) for source in sources):
        return []
    return [one._replace(sources=taken) for one in found if (taken := _taken_from(one.kept, sources, function))]


def _as_append(step: ir.Step, function: MainFunction) -> Append | None:
    """`kept.append(x)` directly in a loop, of a list that is not emptied."""
    call = function.exprs[step.call] if isinstance(step, ir.Perform) else None
    func = function.exprs[call.func] if isinstance(call, ir.Call) and len(call.args) == 1 else None
    if not isinstance(step, ir.Perform) or not isinstance(call, ir.Call):
        return None
    if not isinstance(func, ir.Attr) or func.name != "append":
        return None
    loop = _enclosing_loop(step.context, function.written)
    return None if loop is None else Append(step, func.base, call.args[0].value, loop, frozenset())


def _taken_from(number: int, sources: set[int], function: MainFunction) -> frozenset[int]:
    """Those of `sources` in the memory of whose items an expression, as it is written, may lie (see `_parts`)."""
    found = set[int]()
    waiting, seen = [number], {NONE}
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        match function.exprs[one]:
            case ir.Element(iterable) if iterable in sources:
                found.add(iterable)
            case ir.Seq(_, items) | ir.Map(_, items):
                waiting += items
            case ir.Unpack(inner, _, False) | ir.Index(inner, _):
                waiting.append(inner)
            case ir.Attr(inner, name) if name in TENSOR_MEMORY_ATTRIBUTES:
                waiting.append(inner)
            case ir.Call(func, _) if type(method := function.exprs[func]) is ir.Attr:
                waiting += [method.base] if method.name in TENSOR_MEMORY_METHODS else []
    return frozenset(found)


def _may_be_of_loader(append: Append, function: MainFunction, model: Model) -> bool:
    """Whether something of a loader's batches may be kept for some caller, who is far to seek: no library makes what is
    gone over, as in `zip(...)`, which is the same for all of them."""
    opened = function.opened
    return opened is None or not all(_is_made_by_library(source, opened, model) for source in append.sources)


def _is_made_by_library(iterable: int, frame: Frame, model: Model) -> bool:
    """Whether what is gone over comes from a call of a function or class that is known by its name: no loader."""
    source, _ = _unwrapped(iterable, frame, model)
    call = model.ev.expr(frame, source)
    root = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    while isinstance(root, ir.Attr):
        root = model.ev.expr(frame, root.base)
    if not isinstance(root, ir.Global | ir.Imported):
        return False
    atoms = model.ev.eval(source, frame).atoms
    made = all(isinstance(atom, LibObject) and atom.site == Site(frame, source) for atom in atoms)
    return bool(atoms) and made and not model.made_at(frame.path, frame.piece, source)


def _may_be_a_loader(source: int, function: MainFunction) -> bool:
    """Whether what is gone over, or anything that is passed for it, has a name such as `train_loader`."""
    waiting, seen = [source], set[int]()
    while waiting:
        number = waiting.pop()
        if number == NONE or number in seen:
            continue
        seen.add(number)
        match function.exprs[number]:
            case ir.Call(func, args):
                if _LOADER.search(called_name(function.exprs, func)):
                    return True
                waiting += [argument.value for argument in args]
            case ir.Param(index) if _LOADER.search(function.written.params[index].name):
                return True
            case ir.Global(name) | ir.Attr(_, name) | ir.Capture(_, name) | ir.Imported(_, name, _):
                if name and _LOADER.search(name):
                    return True
            case ir.Phi(choices):
                waiting += choices
    return False


def _loops(frame: Frame, model: Model) -> dict[int, tuple[Loader, int]]:
    """The loops over a loader with workers: by what they go over, the loader and the place of the batch in each item
    (1 behind `enumerate`, else -1)."""
    found: dict[int, tuple[Loader, int]] = {}
    for _, step in model.steps(frame):
        if isinstance(step, ir.Iterate):
            source, position = _unwrapped(step.iterable, frame, model)
            loader = _loader(model.ev.eval(source, frame), model)
            if loader is not None:
                found[step.iterable] = (loader, position)
    return found


def _unwrapped(source: int, frame: Frame, model: Model) -> tuple[int, int]:
    """What is gone over behind `enumerate`, progress bars and the like, with the place of its item (see `_loops`)."""
    position = -1
    for _ in range(4):
        call = model.ev.expr(frame, source)
        names = _names(call.func, frame, model) if isinstance(call, ir.Call) else frozenset()
        if not isinstance(call, ir.Call) or not call.args:
            break
        if "builtins.enumerate" in names and position < 0:
            position = 1
        elif not any(name.startswith(_PASSING) for name in names):
            break
        source = call.args[0].value
    return source, position


def _names(func: int, frame: Frame, model: Model) -> frozenset[str]:
    return frozenset(a.name for a in model.ev.eval(func, frame).atoms if isinstance(a, Lib))


def _loader(value: Val, model: Model) -> Loader | None:
    """The loader that a value is, if its batches lie in shared memory of workers."""
    sites = {atom.site for atom in value.only(LibObject, Instance) if isinstance(atom, LibObject | Instance)}
    for loader in model.loaders:
        if loader.site in sites and _shares(loader):
            return loader
    return None


# --- what is kept -----------------------------------------------------------------------------------------------------


def _kept_by(append: Append, loops: dict[int, tuple[Loader, int]], frame: Frame, model: Model) -> Iterator[Finding]:
    """The first part of a batch that is kept, in a list that was there before the loop."""
    if not _outlives(append.to, append.loop, frame, model):
        return
    for kept in _parts(append.kept, loops, frame, model):
        if not _is_text(kept, model):
            yield from _finding(kept, append.kept, append.step.call, frame, model)
            return


def _enclosing_loop(context: int, one: ir.DefIR) -> int | None:
    """The loop that a context stands in directly; None if it is run under a condition, or there is none: a loop that is
    left early keeps few batches."""
    contexts = one.contexts
    while context > 0 and contexts[context].kind == "with":
        context = contexts[context].parent
    return context if context > 0 and contexts[context].kind == "loop" else None


def _outlives(base: int, loop: int, frame: Frame, model: Model) -> bool:
    """Whether a list is made before the loop and not emptied in it."""
    one = model.def_of(frame)
    e = model.ev.expr(frame, base)
    if isinstance(e, ir.Index):
        return _outlives(e.base, loop, frame, model)
    if isinstance(e, ir.Attr):
        return bool(model.ev.eval(base, frame).only(SeqOf)) and not _is_emptied(base, frame, model)
    made = isinstance(e, ir.Map) or (isinstance(e, ir.Seq) and e.kind == "list")
    if isinstance(e, ir.Call):
        made = bool(_names(e.func, frame, model) & {"builtins.list", "builtins.dict", "collections.defaultdict"})
    bound = [step.context for _, step in frame.code.bindings.get(base, ())]
    inside = any(one.is_within(context, loop) for context in bound)
    return made and bool(bound) and not inside and not _is_emptied(base, frame, model)


def _is_emptied(base: int, frame: Frame, model: Model) -> bool:
    return model.ev.expr(frame, base) in model.remembered(_emptied, frame)


def _emptied(frame: Frame, model: Model) -> frozenset[ir.Expr]:
    """What is emptied in the piece of a frame, or loses items."""
    exprs = model.facts(frame).ir.exprs
    words = {"clear", "pop", "popleft"}
    return frozenset(exprs[e.base] for e in exprs if isinstance(e, ir.Attr) and e.name in words)


def _parts(number: int, loops: dict[int, tuple[Loader, int]], frame: Frame, model: Model) -> list[Kept]:
    """What of an expression lies in the memory of a batch."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Seq):
        return [kept for item in e.items for kept in _parts(item, loops, frame, model)]
    if isinstance(e, ir.Map):
        return [kept for item in e.values for kept in _parts(item, loops, frame, model)]
    one = _part(number, loops, frame, model)
    return [one] if one else []


def _part(number: int, loops: dict[int, tuple[Loader, int]], frame: Frame, model: Model) -> Kept | None:
    path: list[str | int] = []
    tensor = array = False
    here = number
    for _ in range(_MAX_STEPS):
        match model.ev.expr(frame, here):
            case ir.Element(iterable) if iterable in loops:
                loader, position = loops[iterable]
                if position >= 0 and (not path or path.pop() != position):
                    return None
                return Kept(number, loader, tuple(reversed(path)), tensor, array)
            case ir.Unpack(value, index, False):
                path.append(index)
                here = value
            case ir.Index(base, index):
                if not frame.code.has_slice(index):
                    key = model.ev.eval(index, frame).literal
                    if key is None or not isinstance(key.value, str | int):
                        return None
                    path.append(key.value)
                here = base
            case ir.Attr(base, name) if name in TENSOR_MEMORY_ATTRIBUTES:
                here, tensor = base, True
            case ir.Call(func, _):
                method = model.ev.expr(frame, func)
                if not isinstance(method, ir.Attr) or method.name not in TENSOR_MEMORY_METHODS:
                    return None
                array = array or (method.name == "numpy" and not tensor)
                here, tensor = method.base, True
            case _:
                return None
    return None


def _sampled(kept: Kept, model: Model) -> list[Val]:
    """What the samples hold at the place that is kept."""
    found: list[Val] = []
    for frame, reached in model.reached.items():
        if reached.parents.get(kept.loader.index, frame) is not None or not reached.loaders.get("sample"):
            continue
        values = [model.ev.functions.returned(frame)]
        for key in kept.path:
            values = [item for value in values for item in _items(value, key)]
        found.extend(values)
    return found


def _items(value: Val, key: str | int) -> Iterator[Val]:
    """Item `key` of the containers that a value is."""
    for atom in value.only(SeqOf, MapOf):
        if isinstance(atom, SeqOf) and isinstance(key, int) and -len(atom.items) <= key < len(atom.items):
            yield atom.items[key]
        elif isinstance(atom, MapOf) and key in atom.keys:
            yield atom.values[atom.keys.index(str(key))]


def _word(atom: Atom) -> str:
    """What an atom is an example of: the name of what made it, the type of a constant, the reason for not knowing."""
    match atom:
        case LibObject(name, _):
            return name
        case Literal_(kind, _, _):
            return kind
        case Unknown(reason):
            return reason
    return ""


def _is_text(kept: Kept, model: Model) -> bool:
    """Whether what is kept is text: the default collate function leaves it as it is."""
    return any(_word(atom) in ("str", "builtins.str") for value in _sampled(kept, model) for atom in value.atoms)


def _is_tensor(kept: Kept, model: Model) -> bool:
    """Whether what is kept is known to be a tensor: it is used as one, or samples hold an array or number there."""
    if kept.tensor:
        return True
    names = [_word(atom) for value in _sampled(kept, model) for atom in value.atoms]
    known = ("numpy.", "torch.", "int", "index", "float", "builtins.int", "builtins.float", "builtins.len")
    plain = kept.loader.argument("collate_fn").literal is not None
    return bool(names) and plain and all(name.startswith(known) for name in names)


# --- the finding ------------------------------------------------------------------------------------------------------


def _finding(kept: Kept, argument: int, call: int, frame: Frame, model: Model) -> Iterator[Finding]:
    loader = kept.loader
    certain = loader.has_workers() == "yes"
    tensor = _is_tensor(kept, model)
    severity = loudness(Severity.INFORMATION, "proven" if certain else "possible", 0 if tensor else 1)
    if severity is None or loader.site is None:
        return
    yield Finding(
        RULE.name,
        severity,
        "proven" if certain else "possible",
        f"each batch of {loader.described} that is kept holds shared memory of its worker and a file descriptor, and "
        "the loop ends with 'Too many open files' if there are many; keep a copy",
        model.place(frame, call),
        loader.name,
        (Evidence(model.site_place(loader.site), f"the loader ({loader.workers_text})"),),
        _fixes(kept, argument, call, frame, model) if tensor else (),
    )


def _fixes(kept: Kept, argument: int, call: int, frame: Frame, model: Model) -> tuple[Fix, ...]:
    """Copy what is appended, if that is one tensor."""
    copied = ".copy()" if kept.array else ".clone()"
    title = f"Keep a copy: `{copied}`"
    if kept.number != argument:
        return ()
    place, whole = model.place(frame, argument), model.place(frame, call)
    if place.anchor > whole.anchor:
        return (Fix(title, "safe", (Wrap(place, "", copied),)),)
    name = _local_name(argument, whole, frame, model)
    if name is None:
        return ()
    return (Fix(title, "safe", (SetArgument(whole, "object", f"{name}{copied}", 0),)),)


def _local_name(number: int, before: Place, frame: Frame, model: Model) -> str | None:
    """The name under which a local is known."""
    names = {step.name for _, step in frame.code.bindings.get(number, ())}
    return names.pop() if len(names) == 1 and number != NONE and before.anchor >= 0 else None


RULE = Rule(
    code="LDR408",
    name="retained-batches",
    severity=Severity.INFORMATION,
    needs="W1",
    over="main function",
    find=find,
    fix="safe",
    page=page(__doc__),
    enabled_by_default=False,
    words=("append",),
    looks=_may_keep,
    matters=_any_shares,
)
