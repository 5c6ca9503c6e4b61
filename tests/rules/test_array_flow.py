"""Where an array comes from: the calls of `make` that may give what a sample is, or a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.array_flow import ANYTHING, ArrayFlow, Path, is_whole
from tests.project.linking import link

CODE = """
import copy, random
import numpy as np
import torchvision.transforms as T
from torch.utils.data import DataLoader, Dataset
{}
class D(Dataset):
    def __init__(self, root="x", wide=False):
        {}
    def __getitem__(self, index):
        {}
loader = DataLoader(D(), num_workers=2)
"""


#: The part of the sample that is asked for.
PARTS: tuple[Path, ...] = ((), ANYTHING, (0,), (1,), ("a",))
#: Code of the sample, and what these parts of it may be: all of it, anything in it, items 0 and 1, the entry "a".
CASES: dict[str, tuple[str, ...]] = {
    "make(1)": ("1", "1", "", "", ""),
    "load(1)": ("", "", "", "", ""),
    "make(1).view()": ("1", "1", "", "", ""),
    "make(1).copy()": ("", "", "", "", ""),
    "make(1)[0]": ("", "", "", "", ""),
    "make(1)[2:]": ("", "", "", "", ""),
    "make(1), make(2)": ("", "1 2", "1", "2", ""),
    "[make(1), make(2)]": ("", "1 2", "1", "2", ""),
    "(make(1), make(2))[1]": ("2", "2", "", "", ""),
    "(make(1), make(2))[-1]": ("2", "2", "", "", ""),
    "(make(1), make(2))[index]": ("1 2", "1 2", "", "", ""),
    "[make(1), make(2)][1:]": ("", "", "1 2", "1 2", ""),
    '{"a": make(1), "b": make(2)}': ("", "1 2", "", "", "1"),
    '{"a": make(1), "b": make(2)}["a"]': ("1", "1", "", "", ""),
    '{"a": make(1), "b": make(2)}[index]': ("1 2", "1 2", "", "", ""),
    '{"a": make(1)}.get("a")': ("1", "1", "", "", ""),
    '{"a": make(1)}.pop("a")': ("1", "1", "", "", ""),
    '{"a": make(1)}.get("b")': ("", "", "", "", ""),
    '{"a": make(1)}.get(index)': ("", "", "", "", ""),
    '{"a": make(1), index: make(2)}["a"]': ("1 2", "1 2", "", "", ""),
    '{**{"a": make(1)}, "b": make(2)}': ("", "1 2", "", "", "1"),
    '{"a": {"a": make(1)}}': ("", "1", "", "", ""),
    '{"a": [make(1)], "b": (make(2),)}': ("", "1 2", "", "", ""),
    'dict({"a": make(1)})': ("", "1", "", "", "1"),
    '{"a": make(1)}.copy()': ("", "1", "", "", "1"),
    'copy.copy({"a": make(1)})': ("", "1", "", "", "1"),
    "list((make(1), make(2)))": ("", "1 2", "1", "2", ""),
    "tuple([make(1), make(2)])": ("", "1 2", "1", "2", ""),
    "tuple([make(1)])[0]": ("1", "1", "", "", ""),
    "[*load(), make(1)]": ("", "", "", "", ""),
    "[make(1) for x in load()]": ("", "1", "1", "1", "1"),
    "[x for x in [make(1), make(2)]]": ("", "1 2", "1 2", "1 2", "1 2"),
    "{x: make(1) for x in load()}": ("", "1", "1", "1", "1"),
    "make(1) if self.wide else make(2)": ("1 2", "1 2", "", "", ""),
    "make(1) or make(2)": ("1 2", "1 2", "", "", ""),
    "make(1) if None else make(2)": ("2", "2", "", "", ""),
    "x = make(1); x": ("1", "1", "", "", ""),
    "x = make(1); x = make(2); x": ("2", "2", "", "", ""),
    "x = make(1); if index: x = make(2); x": ("1 2", "1 2", "", "", ""),
    "x = make(1); if index: x = make(2); y = x.strides; x": ("", "", "", "", ""),
    "x = make(1); if None: x = make(2); x": ("1", "1", "", "", ""),
    "x = make(1); x += 1; x": ("1", "1", "", "", ""),
    "x, y = make(1), make(2); x": ("1", "1", "", "", ""),
    "x, y = make(1), make(2); y": ("2", "2", "", "", ""),
    "x, *y = make(1), make(2); y": ("", "2", "2", "", ""),
    "for x in [make(1), make(2)]: y = x; y": ("1 2", "1 2", "", "", ""),
    "for n, x in enumerate([make(1)]): y = x; y": ("1", "1", "", "", ""),
    "for n, x in enumerate([make(1)]): y = n; y": ("", "", "", "", ""),
    "for n, x in zip([make(1)], [make(2)]): y = x; y": ("2", "2", "", "", ""),
    "for n, x in zip([make(1)], [make(2)]): y = n; y": ("1", "1", "", "", ""),
    "for x in make(1): y = x; y": ("", "", "", "", ""),
    'x = {}; x["a"] = make(1); x': ("", "1", "", "", "1"),
    'x = {}; x["a"] = make(1); x["a"]': ("1", "1", "", "", ""),
    'x = {}; x["a"] = make(1); x["b"]': ("", "", "", "", ""),
    'x = {}; x["a"] = make(1); x["a"] = make(2); x': ("", "2", "", "", "2"),
    'x = {}; x["a"] = make(1); x["b"] = make(2); x': ("", "1 2", "", "", "1"),
    'x = {"a": make(1)}; x["a"] = make(2); x': ("", "2", "", "", "2"),
    'x = {"a": make(1)}; if index: x["a"] = make(2); x': ("", "1 2", "", "", "1 2"),
    'x = {"a": make(1)}; if None: x["a"] = make(2); x': ("", "1", "", "", "1"),
    'x = {"a": make(1)}; x[index] = make(2); x': ("", "1 2", "2", "2", "1 2"),
    'x = {"a": make(1)}; y = x["a"]; x["a"] = make(2); y': ("1", "1", "", "", ""),
    "x = [make(1), make(2)]; x[0] = make(3); x": ("", "2 3", "3", "2", ""),
    'x = {}; x["a"] = make(1); y = x.copy(); y["a"] = make(2); y': ("", "2", "", "", "2"),
    'x = {}; x["a"] = make(1); y = x.copy(); x["a"] = make(2); y': ("", "1", "", "", "1"),
    "self.x = make(1) / self.x": ("1", "1", "", "", ""),
    'self.x = {"a": make(1)} / self.x["a"]': ("1", "1", "", "", ""),
    "self.x = make(1) / self.y": ("", "", "", "", ""),
    "self.x = make(1); self.x = make(2) / self.x": ("1 2", "1 2", "", "", ""),
    "self.x = make(1) / x = self.x; x.view()": ("1", "1", "", "", ""),
    "def f(): return make(1) | f()": ("1", "1", "", "", ""),
    "def f(x): return x | f(make(1))": ("1", "1", "", "", ""),
    "def f(x, y): return y | f(make(1), make(2))": ("2", "2", "", "", ""),
    "def f(x, y): return y | f(make(1), y=make(2))": ("2", "2", "", "", ""),
    "def f(x, y): return y | f(*load(), make(2))": ("", "", "", "", ""),
    "def f(x, y=None): return y | f(make(1))": ("", "", "", "", ""),
    "def f(x): return x, make(2) | f(make(1))": ("", "1 2", "1", "2", ""),
    "def f(x): return x, make(2) | f(make(1))[1]": ("2", "2", "", "", ""),
    "def f(x): return x, make(2) | x, y = f(make(1)); y": ("2", "2", "", "", ""),
    "def f(x): return load(x) | f(make(1))": ("", "", "", "", ""),
    "def f(x): return x.view() | f(make(1))": ("1", "1", "", "", ""),
    "def f(x):;     if None: return make(2);     return x | f(make(1))": ("1", "1", "", "", ""),
    "def f(x):;     if x: return make(2);     return x | f(make(1))": ("1 2", "1 2", "", "", ""),
    "def f(x): yield x | [y for y in f(make(1))]": ("", "1", "1", "1", "1"),
    "def f(x): return g(x); def g(y): return y | f(make(1))": ("1", "1", "", "", ""),
    "def f(x): return f(x) | f(make(1))": ("", "", "", "", ""),
    "f = lambda x: x | f(make(1))": ("1", "1", "", "", ""),
    "class A:;     def run(self, x): return x | A().run(make(1))": ("1", "1", "", "", ""),
    "class A:;     def run(self, x): return x | A.run(A(), make(1))": ("1", "1", "", "", ""),
    "class A:;     def __call__(self, x): return x | A()(make(1))": ("1", "1", "", "", ""),
    "class A:;     def __init__(self, x): self.x = x | A(make(1)).x": ("1", "1", "", "", ""),
    "class A:;     def __init__(self, x, y=None): self.x = y | A(make(1), make(2)).x": ("2", "2", "", "", ""),
    "class A:;     @property;     def x(self): return make(1) | A().x": ("1", "1", "", "", ""),
    "def f(x): return x.view() | T.Compose([f])(make(1))": ("1", "1", "", "", ""),
    "def f(x): return make(2) | T.Compose([f])(make(1))": ("2", "2", "", "", ""),
    "def f(x): return x; def g(x): return x.view() | T.Compose([f, g])(make(1))": ("1", "1", "", "", ""),
    "def f(x): return x; def g(x): return load(x) | T.Compose([f, g])(make(1))": ("", "", "", "", ""),
    "def f(x): return load(x); def g(x): return x | T.Compose([f, g])(make(1))": ("", "", "", "", ""),
    "def f(x): return make(2); def g(x): return x | T.Compose([f, g])(make(1))": ("2", "2", "", "", ""),
    "def f(x): return x | T.Compose([T.ToTensor()])(make(1))": ("", "", "", "", ""),
    "def f(x): return x | T.Compose([T.Lambda(f)])(make(1))": ("1", "1", "", "", ""),
    "def f(x): return x | self.t = [f] / x = make(1); for t in self.t: x = t(x); x": ("1", "1", "", "", ""),
    "def f(x): return make(2) | self.t = [f] / x = make(1); for t in self.t: x = t(x); x": ("2", "2", "", "", ""),
    "def f(x, y): return x, make(2) | self.t = [f] / x, y = make(1), make(3); for t in self.t: x, y = t(x, y); x": (
        "1",
        "1",
        "",
        "",
        "",
    ),
    "def f():;     y = make(1);     def g(): return y;     return g() | f()": ("1", "1", "", "", ""),
    "import functools; def f(x, y): return y | functools.partial(f, make(1))(make(2))": ("", "", "", "", ""),
    "(make(1), make(2), make(3))[-2]": ("2", "2", "", "", ""),
    "(make(1), make(2))[-3]": ("", "", "", "", ""),
    "x = load(), make(1); x[-1]": ("1", "1", "", "", ""),
    "def f(): return make(1), make(2) | f()[-2]": ("1", "1", "", "", ""),
    'x = {"a": 1}; for y in ("b", "c"): x[y] = make(1); x': ("", "1", "", "", ""),
    'x = {"a": 1}; for y in ("b", "a"): x[y] = make(1); x': ("", "1", "", "", "1"),
    'x = {}; x["a"] = 1; for y, z in load(index).items(): x[y] = make(1); x': ("", "1", "1", "1", ""),
    'x = {}; x["a"] = make(2); for y in load(index): x[y] = make(1); x': ("", "1 2", "1", "1", "2"),
    'x = {}; x["b"] = 1; for y, z in load(index).items(): x[y] = make(1); x': ("", "1", "1", "1", "1"),
    'x = {}; x["a"] = make(2); for y in x: x[y] = make(1); x': ("", "1 2", "", "", "1 2"),
    'x = {}; x["a"] = 1; for y in self.root: x[y] = make(x[y]); x': ("", "?", "?", "?", "?"),
    'x = {}; x["a"] = y = load(); for z in self.root: x[z] = make(y); x': ("", "?", "?", "?", "?"),
    'x = {}; if index: x["a"] = 1; for y in load(index): x[y] = make(1); x': ("", "1", "1", "1", "1"),
    'x = {}; x["a"] = None; for y in load(index): x[y] = make(1); x': ("", "1", "1", "1", "1"),
    'x = {}; x["a"] = np.zeros(3); for y in load(index): x[y] = make(1); x': ("", "1", "1", "1", "1"),
    'x = {}; x["a"] = 1; x[load(index)] = make(1); x': ("", "1", "1", "1", "1"),
    'x = {}; for y in load(index): x[y] = make(1); x["a"] = 1; x': ("", "1", "1", "1", ""),
    "x = [1, 2, 3]; for y in (1, 2): x[y] = make(1); x[-1]": ("1", "1", "", "", ""),
    'y = ["b"]; y.append("a"); x = {}; for z in y: x[z] = make(1); x': ("", "1", "", "", "1"),
}


class Made:
    """A call of `make` ends the way; nothing shares memory but `x.view()`, with `x`."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def makes(self, number: int, frame: Frame, path: Path) -> bool:
        """Whether an expression is `make(...)`."""
        return is_whole(path) and self.name(number, frame) is not None

    def name(self, number: int, frame: Frame) -> str | None:
        """The argument of `make(...)`."""
        e = self._model.ev.expr(frame, number)
        func = self._model.ev.expr(frame, e.func) if isinstance(e, ir.Call) else None
        if not isinstance(e, ir.Call) or func != ir.Global("make"):
            return None
        argument = self._model.ev.expr(frame, e.args[0].value)
        return str(argument.value) if isinstance(argument, ir.Const) else "?"

    def shares(self, number: int, frame: Frame, path: Path) -> Iterator[tuple[int, Path]]:
        """The `x` of `x.view()`."""
        e = self._model.ev.expr(frame, number)
        func = self._model.ev.expr(frame, e.func) if isinstance(e, ir.Call) else None
        if isinstance(func, ir.Attr) and func.name == "view" and is_whole(path):
            yield func.base, ()


def made(tmp_path: FilePath, code: str) -> tuple[str, ...]:
    """What the parts of the sample may be. What stands before ` | ` is module-level code, what stands before ` / ` the
    constructor."""
    above, _, code = code.rpartition(" | ")
    built, _, code = code.rpartition(" / ")
    lines = code.split("; ")
    lines[-1] = f"return {lines[-1]}"
    linked = link(
        tmp_path,
        CODE.format(
            "\n".join(above.split("; ")), "\n        ".join(built.split("; ")) or "pass", "\n        ".join(lines)
        ),
    )
    model = linked.model
    frame = next(one for one in model.reached if model.label(one) == "D.__getitem__")
    step = next(step for _, step in model.steps(frame) if isinstance(step, ir.Return))
    question = Made(model)
    flow = ArrayFlow(model, question)
    found = (flow.found(step.value, frame, path, step) for path in PARTS)
    return tuple(" ".join(sorted(str(question.name(one.number, one.frame)) for one in each)) for each in found)


@pytest.mark.parametrize("code", CASES)
def test_what_a_sample_may_be(tmp_path: FilePath, code: str) -> None:
    assert made(tmp_path, code) == CASES[code]
