"""Methods that are added to a class, and attributes that methods read."""

from __future__ import annotations

import libcst as cst
import pytest

from loaderlint.findings.finding import InsertMethod, Place, ReplaceAttributeUses
from tests.fixes.fixing import PATH, fixed, place, refused

SOURCE = "def {name}(self):\n    return 1"


def method(text: str, code: str = "class A") -> InsertMethod:
    return InsertMethod(place(text, code, cst.ClassDef), "_get", SOURCE)


METHODS = [
    (
        "class A:\n    def f(self):\n        pass\n\n\nx = 1\n",
        "class A:\n    def f(self):\n        pass\n\n    def _get(self):\n        return 1\n\n\nx = 1\n",
    ),
    ("class A:\n    x = 1", "class A:\n    x = 1\n\n    def _get(self):\n        return 1"),
    ("class A:\r\n\tx = 1\r\n", "class A:\r\n\tx = 1\r\n\r\n\tdef _get(self):\r\n\t\treturn 1\r\n"),
    (
        "@d\nclass A(B):\n    class C:\n        y = 1\n# c\n",
        "@d\nclass A(B):\n    class C:\n        y = 1\n\n    def _get(self):\n        return 1\n# c\n",
    ),
    (
        "def f():\n    class A:\n        x = 1  # c\n    return A\n",
        "def f():\n    class A:\n        x = 1  # c\n\n        def _get(self):\n            return 1\n    return A\n",
    ),
    (
        "class B:\n  class A:\n    x = 1\n  y = 2\n",
        "class B:\n  class A:\n    x = 1\n\n    def _get(self):\n      return 1\n  y = 2\n",
    ),
    (
        "class A:\n    # c\n    def _get(self): return 2\n",
        "class A:\n    # c\n    def _get(self): return 2\n\n    def _get_2(self):\n        return 1\n",
    ),
    (
        "class A:\n    def f(self):\n        self._get = 2\n",
        "class A:\n    def f(self):\n        self._get = 2\n\n    def _get_2(self):\n        return 1\n",
    ),
    (
        "if x:\n    class A:\n        y = 1\n",
        "if x:\n    class A:\n        y = 1\n\n        def _get(self):\n            return 1\n",
    ),
]


@pytest.mark.parametrize(("text", "expected"), METHODS)
def test_a_method_is_added(text: str, expected: str) -> None:
    assert fixed(text, [method(text)]) == expected
    assert refused(expected, [method(expected)]) == "nothing is left to change"


def test_an_equal_method_of_another_name_is_used() -> None:
    text = "class A:\n    def own(self):\n        return 1  # c\n\n    def f(self):\n        return self.x\n"
    uses = ReplaceAttributeUses(place(text, "class A", cst.ClassDef), "x", "self.{_get}()")
    assert fixed(text, [method(text), uses]) == text.replace("self.x", "self.own()")


@pytest.mark.parametrize("text", ["class A: x = 1\n", "class A: pass\n", "def f():\n    class A: pass\n"])
def test_a_class_on_one_line_is_refused(text: str) -> None:
    assert refused(text, [method(text)]) == "the class is written on one line"


def test_a_special_method_is_never_renamed() -> None:
    text = "class A:\n    def __getstate__(self): return {}\n"
    intent = InsertMethod(place(text, "class A", cst.ClassDef), "__getstate__", SOURCE)
    assert refused(text, [intent]) == "the class has its own __getstate__"
    text = "class A:\n    x = 1\n"
    intent = InsertMethod(place(text, "class A", cst.ClassDef), "__getstate__", SOURCE)
    assert "def __getstate__(self):" in fixed(text, [intent])


def test_two_methods_keep_their_order() -> None:
    text = "class A:\n    x = 1\n"
    cls = place(text, "class A", cst.ClassDef)
    intents = [InsertMethod(cls, "b", "def {name}(self): ..."), InsertMethod(cls, "a", "def {name}(me): ...")]
    after = "class A:\n    x = 1\n\n    def b(self): ...\n\n    def a(me): ...\n"
    assert fixed(text, intents) == after


def test_modules_of_a_method() -> None:
    text = "import numpy\n\nclass A:\n    x = 1\n"
    intent = InsertMethod(Place(PATH, 1, -1), "f", "def {f}(self):\n    return {numpy}.x, {os}.y")
    after = "import os\n\nimport numpy\n\nclass A:\n    x = 1\n\n    def f(self):\n        return numpy.x, os.y\n"
    assert fixed(text, [intent]) == after
    again = InsertMethod(Place(PATH, 2, -1), "f", intent.source)
    assert refused(after, [again]) == "nothing is left to change"


def test_a_method_whose_name_is_taken_and_not_marked_is_refused() -> None:
    text = "class A:\n    _get = 1\n    def f(self): return self.x\n"
    uses = ReplaceAttributeUses(place(text, "class A", cst.ClassDef), "x", "self._get()")
    assert "taken" in refused(text, [method(text), uses])


def test_the_name_of_a_class_stands_for_it() -> None:
    text = "class A:\n    x = 1\n"
    intent = InsertMethod(place(text, "A", cst.Name), "_get", SOURCE)
    assert fixed(text, [intent]).endswith("    def _get(self):\n        return 1\n")
    assert refused("x = 1\n", [InsertMethod(Place(PATH, 0, -1), "_get", SOURCE)]) == "this is not a class"


# --- attributes -------------------------------------------------------------------------------------------------------

CLASS = "class A:\n    def __init__(self):\n        self.rng = 1\n\n    "

USES = [
    ("def f(self):\n        return self.rng.random()\n", "def f(self):\n        return self.get().random()\n"),
    ("def f(me, self):\n        return me.rng, self.rng\n", "def f(me, self):\n        return me.get(), self.rng\n"),
    ("def f(self, /):\n        return (self.rng)\n", "def f(self, /):\n        return self.get()\n"),
    (
        "async def f(self):\n        x = [self.rng for y in z]\n",
        "async def f(self):\n        x = [self.get() for y in z]\n",
    ),
    ("def f(self):\n        return lambda: self.rng\n", "def f(self):\n        return lambda: self.get()\n"),
    ("def f(self):\n        return f'{self.rng}'\n", "def f(self):\n        return f'{self.get()}'\n"),
    (
        "def f(self):\n        return other.rng, self.rng2, self.x.rng, self.rng.x\n",
        "def f(self):\n        return other.rng, self.rng2, self.x.rng, self.get().x\n",
    ),
    (
        "@property\n    def f(self):  # rng\n        return self.rng\n",
        "@property\n    def f(self):  # rng\n        return self.get()\n",
    ),
    ("if x:\n        def f(self): return self.rng\n", "if x:\n        def f(self): return self.get()\n"),
    ("def f(self): return(self).rng\n", "def f(self): return self.get()\n"),
]


@pytest.mark.parametrize(("before", "after"), USES)
def test_reads_are_replaced(before: str, after: str) -> None:
    intent = ReplaceAttributeUses(place(CLASS + before, "class A", cst.ClassDef), "rng", "self.get()")
    assert fixed(CLASS + before, [intent]) == CLASS + after
    local = "def g():\n" + "".join(f"    {line}\n" if line else "\n" for line in (CLASS + before).split("\n")[:-1])
    expected = "def g():\n" + "".join(f"    {line}\n" if line else "\n" for line in (CLASS + after).split("\n")[:-1])
    intent = ReplaceAttributeUses(place(local, "class A", cst.ClassDef), "rng", "self.get()")
    assert fixed(local, [intent]) == expected


@pytest.mark.parametrize(
    "body",
    [
        "def f(self):\n        self.rng = 2\n",
        "def f(self):\n        self.rng += 2\n",
        "def f(self):\n        del self.rng\n",
        "def f(self):\n        self.rng, x = y\n",
        "def f(self):\n        for self.rng in y: pass\n",
        "def f(self):\n        return getattr(self, 'rng')\n",
        "def f(self):\n        def g(self): return self.rng\n",
        "def f(self):\n        return lambda self: self.rng\n",
        "def f(self):\n        self = other\n        return self.rng\n",
        "@classmethod\n    def f(cls):\n        return cls.rng\n",
    ],
)
def test_other_uses_are_refused(body: str) -> None:
    text = CLASS + body
    assert refused(text, [ReplaceAttributeUses(place(text, "class A", cst.ClassDef), "rng", "self.get()")])


def test_kept_methods_and_other_classes_stay() -> None:
    text = CLASS + (
        "def get(self): return self.rng\n\n    @staticmethod\n    def g(self): return self.rng\n\n"
        "    class B:\n        def f(self): return self.rng\n\n    def f(self): return self.rng\n"
    )
    intent = ReplaceAttributeUses(place(text, "class A", cst.ClassDef), "rng", "self.get()", keep=("get",))
    assert fixed(text, [intent]) == text[: text.rindex("self.rng")] + "self.get()\n"


def test_the_new_method_is_kept() -> None:
    text = CLASS + "def f(self): return self.rng\n"
    cls = place(text, "class A", cst.ClassDef)
    get = InsertMethod(cls, "_get", "def {name}(self):\n    return self.rng")
    uses = ReplaceAttributeUses(cls, "rng", "self.{_get}()")
    after = CLASS + "def f(self): return self._get()\n\n    def _get(self):\n        return self.rng\n"
    assert fixed(text, [get, uses]) == after
    assert refused(after, [get, uses]) == "nothing is left to change"
