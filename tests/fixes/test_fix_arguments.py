"""Setting and removing arguments in every layout of a call."""

from __future__ import annotations

import libcst as cst
import pytest

from loaderlint.findings.finding import InsertFunction, OverrideArguments, RemoveArgument, SetArgument, Wrap
from tests.fixes.fixing import PATH, fixed, place, refused


def one_call(text: str):  # type: ignore[no-untyped-def]
    """The place of the first call of `DataLoader`."""
    for start in range(text.index("DataLoader("), len(text) + 1):
        try:
            return place(text, text[text.index("DataLoader(") : start], cst.Call)
        except LookupError:
            continue
    raise LookupError("DataLoader")


SET = [
    ("DataLoader()\n", "DataLoader(kw=1)\n"),
    ("DataLoader( )\n", "DataLoader(kw=1 )\n"),
    ("DataLoader(ds)\n", "DataLoader(ds, kw=1)\n"),
    ("DataLoader(ds,)\n", "DataLoader(ds, kw=1,)\n"),
    ("DataLoader(ds, batch_size=4)\n", "DataLoader(ds, batch_size=4, kw=1)\n"),
    ("x = [DataLoader(ds) for ds in sets]\n", "x = [DataLoader(ds, kw=1) for ds in sets]\n"),
    ("DataLoader((ds))\n", "DataLoader((ds), kw=1)\n"),
    ("DataLoader(ds, kw=2)\n", "DataLoader(ds, kw=1)\n"),
    ("DataLoader(ds, kw=(2), z=3)\n", "DataLoader(ds, kw=1, z=3)\n"),
    ("DataLoader(ds, kw = None)\n", "DataLoader(ds, kw = 1)\n"),
    ("DataLoader(ds, kw=2, **more)\n", "DataLoader(ds, kw=1, **more)\n"),
    ("DataLoader(\n    ds,\n)\n", "DataLoader(\n    ds,\n    kw=1,\n)\n"),
    ("DataLoader(\n    ds\n)\n", "DataLoader(\n    ds,\n    kw=1\n)\n"),
    ("DataLoader(\n\tds,\n\ta=1,\n)\n", "DataLoader(\n\tds,\n\ta=1,\n\tkw=1,\n)\n"),
    ("DataLoader(\n    ds, a=1\n)\n", "DataLoader(\n    ds, a=1, kw=1\n)\n"),
    ("DataLoader(\n    ds,  # data\n)\n", "DataLoader(\n    ds,  # data\n    kw=1,\n)\n"),
    ("DataLoader(\n    ds  # data\n)\n", "DataLoader(\n    ds,  # data\n    kw=1\n)\n"),
    ("DataLoader(\n    ds,\n    # a=1,\n)\n", "DataLoader(\n    ds,\n    kw=1,\n    # a=1,\n)\n"),
    ("DataLoader(\n    a\n    ,\n)\n", "DataLoader(\n    a\n    ,\n    kw=1,\n)\n"),
    (
        "x = DataLoader(ds,\n               a=1)  # c\n",
        "x = DataLoader(ds,\n               kw=1,\n               a=1)  # c\n",
    ),
    ("x = DataLoader(ds,\n               a=1,)\n", "x = DataLoader(ds,\n               a=1,\n               kw=1,)\n"),
    (
        "DataLoader(\n    ds,\n    a=Compose([\n        b,\n    ]),\n)\n",
        "DataLoader(\n    ds,\n    a=Compose([\n        b,\n    ]),\n    kw=1,\n)\n",
    ),
    ("DataLoader(\r\n    ds,\r\n)\r\n", "DataLoader(\r\n    ds,\r\n    kw=1,\r\n)\r\n"),
    ("DataLoader(ds, a = 1, b = 2)", "DataLoader(ds, a = 1, b = 2, kw = 1)"),
    ("DataLoader(ds, a = 1, b=2)", "DataLoader(ds, a = 1, b=2, kw=1)"),
    ("DataLoader('🎲é', a=1)", "DataLoader('🎲é', a=1, kw=1)"),
    ("DataLoader(ds  # data\n)\n", "DataLoader(ds, kw=1  # data\n)\n"),
    ("DataLoader(*parts, a=1)\n", "DataLoader(*parts, a=1, kw=1)\n"),
    ("async def f():\n    await g(DataLoader(ds))\n", "async def f():\n    await g(DataLoader(ds, kw=1))\n"),
    ("@deco(DataLoader(ds))\ndef f(): pass\n", "@deco(DataLoader(ds, kw=1))\ndef f(): pass\n"),
    (
        "if __name__ == '__main__':\n    x = DataLoader(ds)\n",
        "if __name__ == '__main__':\n    x = DataLoader(ds, kw=1)\n",
    ),
    (
        "class A:\n    class B:\n        x = DataLoader(ds)\n",
        "class A:\n    class B:\n        x = DataLoader(ds, kw=1)\n",
    ),
]


LONG = "batch_size=args.batch_size, shuffle=True, num_workers=args.workers"
LONG_LINES = LONG.replace(", ", ",\n    ")
WRAPPED = [
    (f"x = DataLoader(ds, {LONG})\n", f"x = DataLoader(ds, {LONG},\n               kw=1)\n"),
    (f"x = DataLoader(ds, {LONG},)\n", f"x = DataLoader(ds, {LONG},\n               kw=1,)\n"),
    (f"if a:\n\tx = DataLoader(ds, {LONG})\n", f"if a:\n\tx = DataLoader(ds, {LONG},\n\t               kw=1)\n"),
    # One line between the brackets is how formatters write what fits on one.
    (
        f"DataLoader(\n    ds, {LONG}, a=1\n)\n",
        f"DataLoader(\n    ds,\n    {LONG_LINES},\n    a=1,\n    kw=1,\n)\n",
    ),
    (f"x = DataLoader(ds, [\n    0], {LONG}, a=1)\n", f"x = DataLoader(ds, [\n    0], {LONG}, a=1,\n        kw=1)\n"),
    # Lines of 100 characters or more are written only where the call has such lines.
    (
        f"x = DataLoader(ds, {LONG}, kind='kind kind')\n# {'-' * 150}\n",
        f"x = DataLoader(ds, {LONG}, kind='kind kind',\n               kw=1)\n# {'-' * 150}\n",
    ),
    (
        f"x = DataLoader(ds, {LONG}, kind='kind kind kind',\n               {LONG}, a={'a' * 13})\n# {'-' * 150}\n",
        f"x = DataLoader(ds, {LONG}, kind='kind kind kind',\n               {LONG}, a={'a' * 13}, kw=1)\n"
        f"# {'-' * 150}\n",
    ),
    (
        f"x = DataLoader(a('{'-' * 150}'),\n               ds, {LONG}, kind='kind')\n",
        f"x = DataLoader(a('{'-' * 150}'),\n               ds, {LONG}, kind='kind',\n               kw=1)\n",
    ),
    # as long as another line of the file
    (f"x = DataLoader(ds, {LONG})\n# {'-' * 90}\n", f"x = DataLoader(ds, {LONG}, kw=1)\n# {'-' * 90}\n"),
]


@pytest.mark.parametrize(("before", "after"), WRAPPED)
def test_a_line_that_would_be_too_long_is_wrapped(before: str, after: str) -> None:
    assert fixed(before, [SetArgument(one_call(before), "kw", "1")]) == after


FORMATTED = [
    (f"x = DataLoader(ds, {LONG})\n", f"x = DataLoader(\n    ds, {LONG}, kw=1\n)\n"),
    (
        f"def f():\n    return DataLoader(ds, a=1, {LONG})\n",
        f"def f():\n    return DataLoader(\n        ds,\n        a=1,\n        {LONG_LINES.replace('    ', ' ' * 8)},\n"
        "        kw=1,\n    )\n",
    ),
    (
        f"x = DataLoader(  # c\n    ds, {LONG}, a=1\n)\n",
        f"x = DataLoader(  # c\n    ds,\n    {LONG_LINES},\n    a=1,\n    kw=1,\n)\n",
    ),
    # not the formatter's work
    (
        f"DataLoader(ds, {LONG.replace('=', ' = ')})\n",
        f"DataLoader(ds, {LONG.replace('=', ' = ')},\n           kw = 1)\n",
    ),
    (f"DataLoader(\n    ds, {LONG}, a=1)\n", f"DataLoader(\n    ds, {LONG}, a=1,\n    kw=1)\n"),
    (
        f"DataLoader(\n    ds, b=1,\n    {LONG}, a=1\n)\n",
        f"DataLoader(\n    ds, b=1,\n    {LONG}, a=1,\n    kw=1\n)\n",
    ),
    (f"DataLoader(ds,\n           {LONG}, a=1)\n", f"DataLoader(ds,\n           {LONG}, a=1,\n           kw=1)\n"),
    # other brackets, and comments: aligned
    (f"f(DataLoader(ds, {LONG}))\n", f"f(DataLoader(ds, {LONG},\n             kw=1))\n"),
    (f"x = DataLoader(ds,  # c\n    {LONG}, a=1)\n", f"x = DataLoader(ds,  # c\n    {LONG}, a=1,\n    kw=1)\n"),
]


@pytest.mark.parametrize(("before", "after"), FORMATTED)
def test_a_call_that_would_be_too_long_is_laid_out_as_the_formatter_does(before: str, after: str) -> None:
    assert fixed(before, [SetArgument(one_call(before), "kw", "1")], 80) == after


ONE_LINE = [
    (f"x = DataLoader(ds, {LONG})  # noqa: E501\n", f"x = DataLoader(ds, {LONG}, kw=1)  # noqa: E501\n"),
    (f"for a in DataLoader(ds, {LONG}):  # loaderlint: ignore\n    b\n", None),
    (f"x = DataLoader(ds, {LONG})  # data  # type: ignore\n", None),
    (f"x = DataLoader(\n    ds, {LONG})  # pylint: disable=x\n", None),
    ("x = DataLoader(ds,\n               a)  # noqa\n", "x = DataLoader(ds,\n               a, kw=1)  # noqa\n"),
]


@pytest.mark.parametrize("length", [None, 80])
@pytest.mark.parametrize(("before", "after"), ONE_LINE)
def test_a_line_with_a_comment_for_a_tool_stays_one(before: str, after: str | None, length: int | None) -> None:
    wanted = after or before.replace(LONG, f"{LONG}, kw=1")
    assert fixed(before, [SetArgument(one_call(before), "kw", "1")], length) == wanted


@pytest.mark.parametrize("comment", ["# data", "# notable"])
def test_another_comment_goes_with_the_call(comment: str) -> None:
    before = f"x = DataLoader(ds, {LONG})  {comment}\n"
    after = f"x = DataLoader(\n    ds, {LONG}, kw=1\n)  {comment}\n"
    assert fixed(before, [SetArgument(one_call(before), "kw", "1")], 80) == after


@pytest.mark.parametrize(("before", "after"), SET)
def test_an_argument_is_set(before: str, after: str) -> None:
    intent = SetArgument(one_call(before), "kw", "1")
    assert fixed(before, [intent]) == after
    assert refused(after, [SetArgument(one_call(after), "kw", "1")]) == "nothing is left to change"


BESIDE_UNPACKED = [
    ("DataLoader(ds, **more)\n", "DataLoader(ds, kw=1, **more)\n"),
    ("DataLoader(**more)\n", "DataLoader(**more, kw=1)\n"),
    ("DataLoader(ds, **more, a=2)\n", "DataLoader(ds, **more, a=2, kw=1)\n"),
    ("DataLoader(ds, **some, **more,)\n", "DataLoader(ds, kw=1, **some, **more,)\n"),
    ("DataLoader(*parts, **more)\n", "DataLoader(*parts, kw=1, **more)\n"),
    ("DataLoader(ds, kw=None, **more)\n", "DataLoader(ds, kw=1, **more)\n"),
    ("DataLoader(ds,\n           **more)\n", "DataLoader(ds,\n           kw=1,\n           **more)\n"),
    ("DataLoader(\n    ds, **more\n)\n", "DataLoader(\n    ds, kw=1, **more\n)\n"),
    (
        "DataLoader(\n    ds,  # data\n    # more\n    **more,  # rest\n)\n",
        "DataLoader(\n    ds,  # data\n    kw=1,\n    # more\n    **more,  # rest\n)\n",
    ),
    ("DataLoader(ds,  # noqa\n    **more)\n", "DataLoader(ds,  # noqa\n    kw=1,\n    **more)\n"),
    ("DataLoader(ds\n    , **more)\n", "DataLoader(ds\n    , kw=1, **more)\n"),
    (f"x = DataLoader(ds, {LONG}, **m)\n", f"x = DataLoader(ds, {LONG},\n               kw=1, **m)\n"),
]


@pytest.mark.parametrize(("before", "after"), BESIDE_UNPACKED)
def test_an_argument_that_no_dict_holds_stands_before_it(before: str, after: str) -> None:
    assert fixed(before, [SetArgument(one_call(before), "kw", "1", beside_unpacked=True)]) == after


def test_an_argument_before_a_dict_is_laid_out_as_the_formatter_does() -> None:
    before = f"x = DataLoader(ds, {LONG}, a=1, **more)\n"
    after = f"x = DataLoader(\n    ds,\n    {LONG_LINES},\n    a=1,\n    kw=1,\n    **more,\n)\n"
    assert fixed(before, [SetArgument(one_call(before), "kw", "1", beside_unpacked=True)], 80) == after
    before = f"x = DataLoader(ds, {LONG}, **m)\n"
    after = f"x = DataLoader(\n    ds, {LONG}, kw=1, **m\n)\n"
    assert fixed(before, [SetArgument(one_call(before), "kw", "1", beside_unpacked=True)], 92) == after


def test_a_position_behind_a_dict_is_no_position() -> None:
    text = "DataLoader(ds, *more, **rest)\n"
    intent = SetArgument(one_call(text), "batch_size", "8", 1, beside_unpacked=True)
    assert refused(text, [intent]) == "the call's arguments are not all known (*)"


def test_a_positional_argument_is_replaced() -> None:
    text = "DataLoader(ds, 4, True)\n"
    assert fixed(text, [SetArgument(one_call(text), "batch_size", "8", 1)]) == "DataLoader(ds, 8, True)\n"


def test_a_position_behind_the_arguments_becomes_a_keyword() -> None:
    text = "DataLoader(ds)\n"
    assert fixed(text, [SetArgument(one_call(text), "batch_size", "8", 1)]) == "DataLoader(ds, batch_size=8)\n"


def test_two_arguments_of_one_call() -> None:
    text = "DataLoader(\n    ds  # data\n)\n"
    intents = [SetArgument(one_call(text), "a", "1"), SetArgument(one_call(text), "b", "2")]
    assert fixed(text, intents) == "DataLoader(\n    ds,  # data\n    a=1,\n    b=2\n)\n"


def test_an_argument_is_added_behind_one_that_changes() -> None:
    text = "DataLoader(ds, a=1)\n"
    intents = [SetArgument(one_call(text), "a", "2"), SetArgument(one_call(text), "b", "3")]
    assert fixed(text, intents) == "DataLoader(ds, a=2, b=3)\n"
    intents = [SetArgument(one_call(text), "b", "3"), Wrap(place(text, "1"), "int(", ")")]
    assert fixed(text, intents) == "DataLoader(ds, a=int(1), b=3)\n"


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("DataLoader(ds, **more)\n", None, "(**)"),
        ("DataLoader(*parts)\n", 1, "(*)"),
        ("DataLoader(x for x in y)\n", None, "generator"),
        ("f'{DataLoader(ds)}'\n", None, "f-string"),
    ],
)
def test_unknown_arguments_are_refused(text: str, position: int | None, reason: str) -> None:
    assert reason in refused(text, [SetArgument(one_call(text), "kw", "1", position)])


def test_two_values_for_one_argument_are_refused() -> None:
    text = "DataLoader(ds)\n"
    assert "two fixes" in refused(text, [SetArgument(one_call(text), "a", "1"), SetArgument(one_call(text), "a", "2")])


def test_what_is_no_call_is_refused() -> None:
    assert "not a call" in refused("x = y\n", [SetArgument(place("x = y\n", "y"), "a", "1")])


OVERRIDE = [
    ("DataLoader(n=0, **options)\n", 'DataLoader(n=0, **{**options, "kw": 1})\n'),
    ("DataLoader(**dict(a=1), n=m)\n", 'DataLoader(**{**dict(a=1), "kw": 1}, n=m)\n'),
    ("DataLoader(**(a if b else c))\n", 'DataLoader(**{**(a if b else c), "kw": 1})\n'),
]


@pytest.mark.parametrize(("before", "after"), OVERRIDE)
def test_what_a_dict_brings_is_overridden(before: str, after: str) -> None:
    assert fixed(before, [OverrideArguments(one_call(before), '"kw": 1')]) == after


def test_an_overridden_argument_follows_another() -> None:
    text = "DataLoader(n=m, **options)\n"
    assert fixed(text, [OverrideArguments(one_call(text), '"kw": {argument:n} > 0')]) == (
        'DataLoader(n=m, **{**options, "kw": m > 0})\n'
    )


@pytest.mark.parametrize("text", ["DataLoader(kw=0)\n", "DataLoader(**a, **b)\n"])
def test_a_call_without_one_dict_is_refused(text: str) -> None:
    assert "one ** argument" in refused(text, [OverrideArguments(one_call(text), '"kw": 1')])


REMOVE = [
    ("DataLoader(kw=1)\n", "DataLoader()\n"),
    ("DataLoader(\n    kw=1,\n)\n", "DataLoader()\n"),
    ("DataLoader(ds, kw=1)\n", "DataLoader(ds)\n"),
    ("DataLoader(ds, kw=1, a=2)\n", "DataLoader(ds, a=2)\n"),
    ("DataLoader(ds, kw=(1),)\n", "DataLoader(ds,)\n"),
    ("DataLoader(\n    ds,\n    kw=1,\n    a=2,\n)\n", "DataLoader(\n    ds,\n    a=2,\n)\n"),
    ("DataLoader(\n    ds,\n    kw=1,\n)\n", "DataLoader(\n    ds,\n)\n"),
    ("DataLoader(\n    ds,\n    kw=1\n)\n", "DataLoader(\n    ds\n)\n"),
    ("DataLoader(\n    ds,  # data\n    kw=1\n)\n", "DataLoader(\n    ds,  # data\n    \n)\n"),
    ("DataLoader(\n    kw=1,  # one\n    a=2,\n)\n", "DataLoader(\n      # one\n    a=2,\n)\n"),
]


@pytest.mark.parametrize(("before", "after"), REMOVE)
def test_an_argument_is_removed(before: str, after: str) -> None:
    assert fixed(before, [RemoveArgument(one_call(before), "kw")]) == after


def test_one_goes_and_one_comes() -> None:
    text = "DataLoader(kw=1, a=2)\n"
    intents = [RemoveArgument(one_call(text), "kw"), SetArgument(one_call(text), "b", "3")]
    assert fixed(text, intents) == "DataLoader(a=2, b=3)\n"


def test_a_function_for_an_argument() -> None:
    text = "import torch\nx = DataLoader(ds)\n"
    seed = InsertFunction(PATH, "seed_worker", "def {name}(worker_id):\n    {torch}.manual_seed(worker_id)")
    after = (
        "import torch\n\n\ndef seed_worker(worker_id):\n    torch.manual_seed(worker_id)\n\n\n"
        "x = DataLoader(ds, worker_init_fn=seed_worker)\n"
    )
    assert fixed(text, [seed, SetArgument(one_call(text), "worker_init_fn", "{seed_worker}")]) == after
    assert refused(after, [seed, SetArgument(one_call(after), "worker_init_fn", "{seed_worker}")])


def test_an_argument_follows_another() -> None:
    text = "f(workers=a.b, keep=True)\n"
    follows = SetArgument(place(text, text.strip(), cst.Call), "keep", "{argument:workers} > 0")
    assert fixed(text, [follows]) == "f(workers=a.b, keep=a.b > 0)\n"


def test_an_argument_that_is_computed_is_not_written_twice() -> None:
    text = "f(workers=count(), keep=True)\n"
    follows = SetArgument(place(text, text.strip(), cst.Call), "keep", "{argument:workers} > 0")
    assert "twice" in refused(text, [follows])
