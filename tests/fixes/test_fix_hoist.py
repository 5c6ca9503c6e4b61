"""Lambdas and nested functions become functions of the module."""

from __future__ import annotations

import libcst as cst
import pytest

from loaderlint.findings.finding import Hoist
from tests.fixes.fixing import fixed, place, refused

LAMBDAS = [
    ("f = g(lambda x: x)\n", "lambda x: x", (), "\n\ndef apply(x):\n    return x\n\n\nf = g(apply)\n"),
    ("f = g(lambda: {'a': 1})\n", "lambda: {'a': 1}", (), "\n\ndef apply():\n    return {'a': 1}\n\n\nf = g(apply)\n"),
    (
        "import os\n\n\ndef main(n):\n    return lambda *rows, k=1: rows[n]  # why\n",
        "lambda *rows, k=1: rows[n]",
        ("n",),
        "import functools\nimport os\n\n\ndef apply(n, *rows, k=1):\n    return rows[n]\n\n\n"
        "def main(n):\n    return functools.partial(apply, n)  # why\n",
    ),
    (
        "import os\n\n\ndef main():\n    return g(\n        lambda x: (\n            x\n"
        "            + 1  # one\n        )\n    )\n",
        "lambda x: (\n            x\n            + 1  # one\n        )",
        (),
        "import os\n\n\ndef apply(x):\n    return (\n        x\n        + 1  # one\n    )\n\n\n"
        "def main():\n    return g(\n        apply\n    )\n",
    ),
    (
        "import os\n\n\ndef main():\n    return g(lambda x: x\n             + 1)\n",
        "lambda x: x\n             + 1",
        (),
        "import os\n\n\ndef apply(x):\n    return (x\n        + 1)\n\n\ndef main():\n    return g(apply)\n",
    ),
]


@pytest.mark.parametrize(("text", "code", "captures", "after"), LAMBDAS)
def test_a_lambda(text: str, code: str, captures: tuple[str, ...], after: str) -> None:
    assert fixed(text, [Hoist(place(text, code, cst.Lambda), "apply", captures)]).lstrip("\n") == after.lstrip("\n")


#: Lambdas that call a function of the file, what each uses of the function around it, and what stands for it.
FORWARDING = [
    ("lambda x: pad(x)", (), "pad"),
    ("lambda x, y: pad(x, y)", (), "pad"),
    ("lambda x: pad(x, size=n)", ("n",), "functools.partial(pad, size=n)"),
    ("lambda x: pad(x, size=3, mode='same', last=None)", (), "functools.partial(pad, size=3, mode='same', last=None)"),
    # a global may have another value when the function is called; the rest calls with other arguments
    ("lambda x: pad(x, size=SIZE)", (), "apply"),
    ("lambda x: pad(x, size=n + 1)", ("n",), "functools.partial(apply, n)"),
    ("lambda x: pad(x, n)", ("n",), "functools.partial(apply, n)"),
    ("lambda x: pad(x, 3)", (), "apply"),
    ("lambda x, y: pad(y, x)", (), "apply"),
    ("lambda x=1: pad(x)", (), "apply"),
    ("lambda *x: pad(*x)", (), "apply"),
    ("lambda x: pad(x, size=x)", (), "apply"),
    ("lambda x: other(x)", (), "apply"),
    ("lambda x: twice(x)", (), "apply"),
]


@pytest.mark.parametrize(("code", "captures", "stands"), FORWARDING)
def test_a_lambda_that_calls_a_function_of_the_file(code: str, captures: tuple[str, ...], stands: str) -> None:
    text = (
        "import functools\n\nSIZE = 3\n\n\ndef pad(x, size, **more):\n    return x\n\n\n"
        "def twice(x):\n    return x\n\n\ntwice = cached(twice)\n\n\n"
        f"def main(n, other):\n    return {code}\n"
    )
    assert f"    return {stands}\n" in fixed(text, [Hoist(place(text, code, cst.Lambda), "apply", captures)])


ACTING = [
    ("f = g(k=lambda x: h(x))\n", "lambda x: h(x)", "h(x)"),
    ("f = g(lambda x: (h(x)))\n", "lambda x: (h(x))", "(h(x))"),
    ("f = g(lambda x: h(x)(1))\n", "lambda x: h(x)(1)", "h(x)(1)"),
    # no call, or perhaps used elsewhere
    ("f = g(lambda x: x.y)\n", "lambda x: x.y", "return x.y"),
    ("f = g(lambda x: (h(x), i))\n", "lambda x: (h(x), i)", "return (h(x), i)"),
    ("f = [lambda x: h(x)]\n", "lambda x: h(x)", "return h(x)"),
]


@pytest.mark.parametrize(("text", "code", "body"), ACTING)
def test_a_lambda_of_which_only_the_call_counts(text: str, code: str, body: str) -> None:
    edited = fixed(text, [Hoist(place(text, code, cst.Lambda), "apply", returns=False)])
    assert f"def apply(x):\n    {body}\n" in edited


#: Statements that give a lambda a name, and what they become.
NAMED = [
    ("import os\nf = lambda x: h(x)\n", "import os\n\n\ndef f(x):\n    return h(x)\n"),
    ("f = lambda x: h(x)\ny = f(1)\n", "def f(x):\n    return h(x)\n\n\ny = f(1)\n"),
    (
        "import os\n\n# About f.\nf = lambda x: h(x)  # noqa: E731\n\n\ny = 1\n",
        "import os\n\n\n# About f.\ndef f(x):  # noqa: E731\n    return h(x)\n\n\ny = 1\n",
    ),
    ("import os\r\nf = lambda x: h(x)\r\n", "import os\r\n\r\n\r\ndef f(x):\r\n    return h(x)\r\n"),
    # the name has another value too, several names, a branch, two statements on the line
    ("f = lambda x: h(x)\nf = 1\n", "def apply(x):\n    return h(x)\n\n\nf = apply\nf = 1\n"),
    ("f = g = lambda x: h(x)\n", "def apply(x):\n    return h(x)\n\n\nf = g = apply\n"),
    ("if a:\n    f = lambda x: h(x)\n", "def apply(x):\n    return h(x)\n\n\nif a:\n    f = apply\n"),
    ("y = 1; f = lambda x: h(x)\n", "def apply(x):\n    return h(x)\n\n\ny = 1; f = apply\n"),
]


@pytest.mark.parametrize(("text", "after"), NAMED)
def test_a_lambda_that_a_name_of_the_module_holds(text: str, after: str) -> None:
    assert fixed(text, [Hoist(place(text, "lambda x: h(x)", cst.Lambda), "apply")]) == after


def test_equal_lambdas_share_a_function_and_braces_stay() -> None:
    text = 'import os\n\n\ndef main():\n    return g(lambda x: f"{name} {os}"), g(lambda x: f"{name} {os}")\n'
    code = 'lambda x: f"{name} {os}"'
    intents = [Hoist(place(text, code, cst.Lambda, number), "apply") for number in (0, 1)]
    after = 'import os\n\n\ndef apply(x):\n    return f"{name} {os}"\n\n\ndef main():\n    return g(apply), g(apply)\n'
    assert fixed(text, intents) == after


NESTED = [
    (
        "import os\n\n\ndef main(n):\n    x = 1\n\n    # About f.\n    def f(a):\n"
        "        # Inside.\n        return a  # end\n\n"
        "    return f, x\n",
        (),
        "import os\n\n\n# About f.\ndef f(a):\n    # Inside.\n    return a  # end\n\n\n"
        "def main(n):\n    x = 1\n\n    return f, x\n",
    ),
    (
        "import os\n\n\ndef main(n):\n    def f(a):\n        return a * n  # end\n    return f\n",
        ("n",),
        "import functools\nimport os\n\n\ndef _f(n, a):\n    return a * n\n\n\n"
        "def main(n):\n    f = functools.partial(_f, n)  # end\n    return f\n",
    ),
    (
        "import os\n\n\ndef main(n):\n\tif n:\n\t\tdef f():\n\t\t\tif n:\n\t\t\t\treturn 1\n"
        "\telse:\n\t\tf = None\n\treturn f\n",
        (),
        "import os\n\n\ndef _f():\n\tif n:\n\t\treturn 1\n\n\n"
        "def main(n):\n\tif n:\n\t\tf = _f\n\telse:\n\t\tf = None\n\treturn f\n",
    ),
    (
        "import os\n\n\ndef f():\n    pass\n\n\ndef main(n):\n    def f(\n        a,\n    ):\n"
        "        return a\n    return f\n",
        (),
        "import os\n\n\ndef f():\n    pass\n\n\n"
        "def _f(\n    a,\n):\n    return a\n\n\ndef main(n):\n    f = _f\n    return f\n",
    ),
    (
        "import os\r\n\r\n\r\ndef main(n):\r\n    def f(a):\r\n        return a\r\n"
        "        # last\r\n\r\n    return f\r\n",
        (),
        "import os\r\n\r\n\r\ndef f(a):\r\n    return a\r\n    # last\r\n\r\n\r\ndef main(n):\r\n    return f\r\n",
    ),
]


@pytest.mark.parametrize(("text", "captures", "after"), NESTED)
def test_a_nested_function(text: str, captures: tuple[str, ...], after: str) -> None:
    number = 1 if "def f():\n    pass" in text else 0
    assert fixed(text, [Hoist(place(text, "def f(", cst.FunctionDef, number), "f", captures)]) == after


RENAMED = [
    (
        "import os\n\n\ndef main(n):\n    def f(a):\n        return a\n\n    g = os.f(f, f=f)\n    return f, g\n",
        (),
        "import os\n\n\ndef identity(a):\n    return a\n\n\n"
        "def main(n):\n    g = os.f(identity, f=identity)\n    return identity, g\n",
    ),
    (  # the new name is taken
        "import os\n\nidentity = 1\n\n\ndef main(n):\n    def f(a):\n        return a\n\n    return f\n",
        (),
        "import os\n\nidentity = 1\n\n\ndef identity_2(a):\n    return a\n\n\ndef main(n):\n    return identity_2\n",
    ),
    (  # other functions have such a name, too
        "import os\n\n\ndef other(f):\n    return f\n\n\ndef main(n):\n    def f(a):\n        return a\n    return f\n",
        (),
        "import os\n\n\ndef other(f):\n    return f\n\n\ndef identity(a):\n    return a\n\n\n"
        "def main(n):\n    f = identity\n    return f\n",
    ),
    (
        "import os\n\n\ndef main(n):\n    def f(a):\n        return a * n\n    return f\n",
        ("n",),
        "import functools\nimport os\n\n\ndef identity(n, a):\n    return a * n\n\n\n"
        "def main(n):\n    f = functools.partial(identity, n)\n    return f\n",
    ),
]


@pytest.mark.parametrize(("text", "captures", "after"), RENAMED)
def test_a_nested_function_with_a_new_name(text: str, captures: tuple[str, ...], after: str) -> None:
    assert fixed(text, [Hoist(place(text, "def f(", cst.FunctionDef), "identity", captures)]) == after


def test_what_cannot_be_moved() -> None:
    text = "def f(a):\n    return a\n"
    reason = refused(text, [Hoist(place(text, "def f(", cst.FunctionDef), "f")])
    assert reason == "this is not a function that can be moved"
    text = "def main():\n    @known\n    def f(a):\n        return a\n    return f\n"
    assert refused(text, [Hoist(place(text, "def f(", cst.FunctionDef), "f")])
    text = "f = g(\n    lambda x:  # why\n    x\n)\n"
    assert refused(text, [Hoist(place(text, "lambda x:  # why\n    x", cst.Lambda), "f")])
