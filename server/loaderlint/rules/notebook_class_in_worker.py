"""
# notebook-class-in-worker (LDR509)

## What it does
Finds datasets, transforms, collate functions and worker init functions that a notebook defines and that go to workers
which are not forked.

## Why is this bad?
A worker that is spawned, or started by the fork server, gets only the name of the class and imports it. The notebook
defines the class in its own `__main__`, which the worker does not have. The worker ends with `AttributeError: Can't get
attribute 'Samples' on <module '__main__' (built-in)>`, and the notebook reports
`RuntimeError: DataLoader worker (pid(s) N) exited unexpectedly`. This happens on Windows, on macOS, and on Linux from
Python 3.14 on.

## When it is not a bug
- The workers are forked: Linux before Python 3.14.
- The loader has no workers.
- The class comes from a module that the notebook imports.
- The notebook makes no loader with workers that gets the dataset, and passes the class to no other code.
- The loader is in a module that gets its dataset from elsewhere, and no notebook passes one in: a module cannot import
  what a notebook defines.
- It is a lambda or a nested function, which pickle can never send: `unpicklable-callable` reports those.

## Example
In a notebook:
```python
class Samples(Dataset):
    def __getitem__(self, index):
        return index

loader = DataLoader(Samples(), num_workers=4)
```

## Fixed
With the class in `samples.py` next to the notebook:
```python
from samples import Samples

loader = DataLoader(Samples(), num_workers=4)
```

## Fix safety
There is no fix, because the class needs a file of its own. `num_workers=0` also avoids the error.

## References
- [multiprocessing: the __main__ module must be importable](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
- pytorch/pytorch#51344
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Place, Severity, Silence
from loaderlint.project.evaluation.values import Atom, ClassRef, FunctionRef, Instance
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import undoubted
from loaderlint.rules.shared.pickled_to_workers import cannot_start, is_local, payloads, sent_by, start_severity
from loaderlint.rules.shared.silence_reasons import few_workers, started_by
from loaderlint.syntax.notebook import SUFFIX


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each class or function of a notebook that the loader's workers are sent."""
    if not model.has_notebooks:
        return
    exposure = model.exposed(1 << loader.index, None, 1)
    if exposure is None or start_severity(loader, model) is None:
        if loader.site is not None and loader.site.frame.path.suffix == SUFFIX:
            reason = few_workers(loader) if exposure is None else f"{started_by(loader, model)}: nothing is imported"
            yield Silence(RULE.name, model.site_place(loader.site), reason)
        return
    for payload in payloads(loader, model):
        ref = _defined(payload.atom)
        if ref is None or ref.path.suffix != SUFFIX or is_local(ref, model):
            continue
        if loader.out_of_sight and not _is_passed_on(ref, model):
            yield Silence(RULE.name, _place(ref, model), "the notebook makes no loader with workers that gets it")
            continue
        certainty = "possible" if payload.guessed else exposure.certainty
        facts = model.ev.facts(ref.path, ref.piece)
        one = facts.ir.defs[ref.def_] if facts else None
        if facts is None or one is None or one.kind == "lambda":
            continue
        yield undoubted(RULE, certainty).finding(
            f"{cannot_start(loader, model)}: they import `{one.name}` by its name, and what a notebook defines cannot "
            "be imported; move it to a module",
            _place(ref, model),
            one.name,
            (*payload.shown(model), *sent_by(loader, model)),
        )


def _defined(atom: Atom) -> ClassRef | FunctionRef | None:
    """The class or function that pickle writes down by its name."""
    if isinstance(atom, Instance):
        return atom.cls
    return atom if isinstance(atom, ClassRef | FunctionRef) else None


def _place(ref: ClassRef | FunctionRef, model: Model) -> Place:
    """Where a class or function of a notebook is defined: at its name."""
    facts = model.ev.facts(ref.path, ref.piece)
    return Place(ref.path, ref.piece, facts.anchors.defs[ref.def_][1] if facts is not None else -1)


def _is_passed_on(ref: ClassRef | FunctionRef, model: Model) -> bool:
    """Whether a notebook gives one of its classes or functions to other code, which may make a loader of it: it has a
    decorator, or the notebook names it to do something else than to call it or to derive from it."""
    facts, file = model.ev.facts(ref.path, ref.piece), model.files.file(ref.path)
    if facts is None or file is None or facts.ir.defs[ref.def_].decorators:
        return True
    name = facts.ir.defs[ref.def_].name
    apart = (index for index in file.mentioning(name) if ref.piece not in (index, file.pieces[index].parent))
    named = (model.ev.facts(ref.path, index) for index in apart)
    return any(_passes_on(one.ir, name) for one in named if one is not None)


def _passes_on(piece: ir.PieceIR, name: str) -> bool:
    called = {e.func for e in piece.exprs if isinstance(e, ir.Call)}
    bases = {base for one in piece.defs for base in one.bases}
    return any(e == ir.Global(name) and number not in called | bases for number, e in enumerate(piece.exprs))


RULE = Rule(
    code="LDR509",
    name="notebook-class-in-worker",
    severity=Severity.WARNING,
    needs="W1",
    over="loader",
    find=find,
    fix=None,
    page=page(__doc__),
)
