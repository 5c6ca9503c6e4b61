"""What the text of a file says about the libraries that it uses: names that are assigned, classes, calls of loaders."""

from __future__ import annotations

import re

import pytest

from loaderlint.project.loaders.installed_loaders import (
    assigned_from,
    called_loaders,
    class_head,
    names_one,
    star_imports,
)

ASSIGNED = {
    "trainer = lib.Trainer()": ("trainer",),
    "trainer=lib.Trainer()": ("trainer",),
    "one = lib.A()\ntwo = lib.B()\none = lib.C()": ("one", "two"),
    "one = two = lib.A()": ("one", "two"),
    "one = two.three = lib.A()": ("one",),
    "def f(self):\n    self.one = self.two = three = lib.A()": ("one", "two"),
    "def f(self):\n    one = self.two = lib.A()": ("two",),
    "one = other()\ntwo = lib": ("two",),
    "one = other(lib)": (),
    "one == lib": (),
    "self.trainer = lib.Trainer()": (),
    "trainer: object = lib.Trainer()": (),
    "if lib:\n    one = lib": ("one",),
    "def f(self):\n    self.trainer = lib.Trainer()\n    local = lib": ("trainer",),
    "async def f(self):\n    self.trainer = lib.Trainer()": ("trainer",),
    "def f(self):\n    self.trainer.part = lib.Part()": (),
    "def f(self):\n    other.trainer = lib.Trainer()": (),
    "liberal = 1": (),
    "": (),
}
HEADS = {
    "class A(B):\n    pass": ("A", "B"),
    "class A(b.B, C):\n    pass": ("A", "b.B, C"),
    "  class A(B): pass": ("A", "B"),
    "@final\nclass A(B):\n    pass": ("A", "B"),
    "class A (B): pass": ("A", "B"),
    "class A:\n    pass": None,
    "class A():\n    pass": ("A", ""),
    "def f():\n    class A(B): pass": None,
    "@cache\ndef f(): pass": None,
    "": None,
}
STARS = {
    "from lib import *": ("lib",),
    "from lib.part import *": ("lib.part",),
    "from lib import*": ("lib",),
    "from one import *\nfrom two import *": ("one", "two"),
    "from lib import part": (),
    "from . import *": (),
    "import lib; a * b": (),
    "x * y": (),
}
CALLED = {
    "DataLoader(data)": ("DataLoader",),
    "data.DataLoader(rows)": ("data.DataLoader",),
    "self.loader(rows)": ("self.loader",),
    "loader(a); loader(b); Loader(c)": ("loader", "Loader"),
    "loader = 1": (),
    "loaders(a)": (),
    "loader (a)": (),
    "make(loader)": (),
}


@pytest.mark.parametrize(("text", "expected"), ASSIGNED.items(), ids=repr)
def test_assigned(text: str, expected: tuple[str, ...]) -> None:
    assert assigned_from(text, re.compile(r"\blib\b")) == expected


@pytest.mark.parametrize(("text", "expected"), HEADS.items(), ids=repr)
def test_class_heads(text: str, expected: tuple[str, str] | None) -> None:
    assert class_head(text) == expected


@pytest.mark.parametrize(("text", "expected"), STARS.items(), ids=repr)
def test_star_imports(text: str, expected: tuple[str, ...]) -> None:
    assert star_imports(text) == expected


@pytest.mark.parametrize(("text", "expected"), CALLED.items(), ids=repr)
def test_called_loaders(text: str, expected: tuple[str, ...]) -> None:
    assert called_loaders(text) == expected


def test_names() -> None:
    assert names_one("lib.Trainer()", re.compile(r"\blib\b"))
    assert not names_one("liberal", re.compile(r"\blib\b"))
