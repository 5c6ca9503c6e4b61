"""What people and programs do to the files of a project, as data that can be printed, dropped and played again.

Places are character offsets. One that lies beyond a text means its end, so that a step keeps a meaning when steps
before it are dropped."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.robustness.projects import OTHER_SETTINGS, SETTINGS, TEXTS

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Replace:
    """Put `text` in place of the characters from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A notification with several changes, each made in the text that those before it left. A `str` replaces all."""

    name: str
    changes: tuple[Replace | str, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """The editor opens a file, with a text or with the one on disk."""

    name: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """The editor closes a file."""

    name: str


@dataclass(frozen=True, slots=True)
class Write:
    """A file changes on disk, or goes (`text` is None); the editor tells the server."""

    name: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Rename:
    """A file gets another name on disk; an open one is closed and opened again."""

    name: str
    new: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A request about a place, whose answer may be anything but an error."""

    name: str
    method: str
    at: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait until the server has looked at everything, so that the next edit meets a present answer."""


Step = Change | Open | Close | Write | Rename | Ask | Pause

REQUESTS = ("textDocument/hover", "textDocument/codeAction", "textDocument/codeLens", "textDocument/diagnostic")


def on_boundary(text: str, at: int) -> int:
    """The offset nearest to `at`, from below, that a position can name: not between the two halves of a line end."""
    at = max(0, min(at, len(text)))
    return at - 1 if 0 < at < len(text) and text[at - 1 : at + 1] == "\r\n" else at


def bounds(text: str, change: Replace) -> tuple[int, int]:
    """The offsets that `change` really means in `text`."""
    start, end = on_boundary(text, change.start), on_boundary(text, change.end)
    return min(start, end), max(start, end)


def applied(text: str, changes: Sequence[Replace | str]) -> str:
    """The text after the changes, one after the other."""
    for change in changes:
        if isinstance(change, str):
            text = change
        else:
            start, end = bounds(text, change)
            text = text[:start] + change.text + text[end:]
    return text


# --- random changes of a text ----------------------------------------------------------------------------------------

#: What is typed, whole and half.
_TYPED = (
    "num_workers=4",
    "np.random.seed(0)\n",
    "def helper(value):\n    return value\n",
    "def half(",
    "class Half(Dataset",
    "class Other(Dataset):\n    def __getitem__(self, index):\n        return np.random.rand()\n",
    "loader = DataLoader(dataset, num_workers=2)\n",
    "from torch.utils.data import DataLoader, Dataset\n",
    "import numpy as np\nimport random\n",
    "from mixed import *\n",
    "@property\n",
    "if __name__ == '__main__':\n    ",
    "for batch in loader:\n    pass\n",
    "else:\n",
    "async def gather():\n    await other()\n",
    "match index:\n    case 1:\n        pass\n",
    "lambda x: x",
    "return ",
    "yield index\n",
    "self.rng = np.random.default_rng()\n",
    "worker_init_fn=seed, ",
    "# loaderlint: ignore\n",
    "# type: ignore\n",
    "global state\n",
    "f'{index!r:>{10}}'",
    "rb'''",
    "\\\n",
    ";",
    "\x0c",
)
_SIGNS = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    '"""',
    "'''",
    "\\",
    ":",
    ",",
    "#",
    "\n",
    "\n\n",
    " ",
    "    ",
    "=",
    ".",
)
#: Beyond the first plane, combining, right to left, with a joiner, and signs at which some functions split lines.
_ODD = (
    "\U0001f600",
    "e\u0301",
    "\u0915\u094d\u0937",
    "\u05d0\u05d1",
    "\U0001f469\u200d\U0001f680",
    "\u2028",
    "\x85",
    "é",
    "ﬁ",
    "\ufeff",
)


def random_changes(text: str, chance: random.Random, past: Sequence[str]) -> tuple[Replace | str, ...]:
    """One random edit of `text`; `past` are earlier texts of the same file."""
    kind = chance.choices(_KINDS, _WEIGHTS)[0]
    return kind(text, chance, past) or (Replace(len(text), len(text), "\n"),)


_Changes = tuple["Replace | str", ...]


def _typing(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    at, typed = _place(text, chance), chance.choice(_TYPED)[: chance.randint(1, 60)]
    return tuple(Replace(at + number, at + number, sign) for number, sign in enumerate(typed))


def _insertion(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    at = _place(text, chance)
    return (Replace(at, at, chance.choice(_TYPED)),)


def _sign(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    at = chance.randint(0, len(text))
    return (Replace(at, at, chance.choice(_SIGNS)),)


def _odd_sign(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    quoted = [match.end() for match in re.finditer(r"#|(?<=\w)'|\"", text)]
    at = chance.choice(quoted) if quoted and chance.random() < 0.8 else chance.randint(0, len(text))
    return (Replace(at, at, chance.choice(_ODD)),)


def _backspace(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    at, count = chance.randint(0, len(text)), chance.randint(1, 8)
    return tuple(Replace(at - number - 1, at - number, "") for number in range(min(at, count)))


def _word(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    words = list(re.finditer(r"\w+", text))
    if not words:
        return ()
    word = chance.choice(words)
    return (Replace(word.start(), word.end(), chance.choice(("", "x", chance.choice(words).group()))),)


def _lines_gone(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    start, end = _some_lines(text, chance)
    return (Replace(start, end, ""),)


def _lines_moved(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    start, end = _some_lines(text, chance)
    to = chance.choice(_line_starts(text))
    taken = text[start:end]
    if chance.random() < 0.3:
        return (Replace(to, to, taken),)
    to = to if to <= start else max(start, to - len(taken))
    return (Replace(start, end, ""), Replace(to, to, taken))


def _paste(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    other = chance.choice(TEXTS)
    start, end = _some_lines(other, chance, most=30)
    at = chance.choice(_line_starts(text))
    return (Replace(at, at, other[start:end]),)


def _undo(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    if not past:
        return ()
    return _difference(text, past[-chance.randint(1, min(4, len(past)))])


def _replace_all(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    words = re.findall(r"[^\W\d]\w+", text)
    if not words:
        return ()
    old, new = chance.choice(words), chance.choice((chance.choice(words), "renamed", "\U0001d4b3"))
    found = [Replace(match.start(), match.end(), new) for match in re.finditer(rf"\b{re.escape(old)}\b", text)]
    return tuple(reversed(found))  # as editors send them: the places behind stay what they were


def _indent(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    start, end = _some_lines(text, chance, most=12)
    block, by = text[start:end], chance.choice(("    ", "\t", " ", "# "))
    if chance.random() < 0.5:
        changed = re.sub(r"(?m)^(?=.)", by, block)
    else:
        changed = re.sub(r"(?m)^(?:    |\t|# | )", "", block)
    return (Replace(start, end, changed),)


def _line_ends(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    if chance.random() < 0.5:
        start, end = _some_lines(text, chance)
        block = _LINE_END.sub(chance.choice(("\n", "\r\n", "\r")), text[start:end])
        return (Replace(start, end, block),)
    ends = chance.choice((["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]))
    return (_LINE_END.sub(lambda _: chance.choice(ends), text),)


def _tabs(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    return (text.replace("    ", "\t") if "    " in text else text.replace("\t", "    "),)


def _whole(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    return (chance.choice(("", "\n", chance.choice(TEXTS), chance.choice(TEXTS), *past[-3:])),)


def _formatter(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    changed = re.sub(r"[ \t]+(?=\r?\n|\r)", "", text).replace("'", '"').replace("\n\n\n", "\n\n")
    return _difference(text, changed)


def _several_cursors(text: str, chance: random.Random, past: Sequence[str]) -> _Changes:
    places = sorted({chance.choice(_line_starts(text)) for _ in range(chance.randint(2, 5))}, reverse=True)
    typed = chance.choice((*_SIGNS, "    ", "# ", "x = 1\n"))
    return tuple(Replace(at, at, typed) for at in places)


_KINDS: tuple[Callable[[str, random.Random, Sequence[str]], _Changes], ...]
_KINDS, _WEIGHTS = zip(
    (_typing, 8),
    (_insertion, 8),
    (_sign, 6),
    (_odd_sign, 4),
    (_backspace, 6),
    (_word, 8),
    (_lines_gone, 6),
    (_lines_moved, 6),
    (_paste, 6),
    (_undo, 14),
    (_replace_all, 4),
    (_indent, 4),
    (_line_ends, 3),
    (_tabs, 1),
    (_whole, 2),
    (_formatter, 1),
    (_several_cursors, 3),
    strict=True,
)


def _place(text: str, chance: random.Random) -> int:
    """Somewhere: mostly at the start of a line, as people do."""
    return chance.choice(_line_starts(text)) if chance.random() < 0.6 else chance.randint(0, len(text))


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def _some_lines(text: str, chance: random.Random, most: int = 6) -> tuple[int, int]:
    starts = [*_line_starts(text), len(text)]
    first = chance.randrange(len(starts) - 1)
    return starts[first], starts[min(first + chance.randint(1, most), len(starts) - 1)]


def _difference(old: str, new: str) -> _Changes:
    """The one change that makes `new` of `old`, as small as it can be."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    change = Replace(start, len(old) - end, new[start : len(new) - end])
    return (change,) if applied(old, (change,)) == new else (new,)


# --- random steps of a project ---------------------------------------------------------------------------------------


class Generator:
    """Random steps of a project. It follows what they do, so that most of them make sense."""

    def __init__(self, files: dict[str, str], chance: random.Random, *, waits: bool = True) -> None:
        """`waits`: some steps wait for an answer of the server."""
        self._chance = chance
        self._waits = waits
        self._names = [name for name in files if name.endswith(".py")]
        self._first = files
        self._past: dict[str, list[str]] = {}

    def step(self, disk: dict[str, str], opened: dict[str, str]) -> Step:
        """The next step of a project with these files on disk and these texts in the editor."""
        chance = self._chance
        if opened and (len(opened) > 3 or chance.random() < 0.92):
            return self._in_editor(disk, opened)
        match chance.randrange(8):
            case 0 | 1 | 2 if chance.random() < 0.9:
                return Open(chance.choice(self._names), None)
            case 3:
                return Open(chance.choice((*self._names, "new.py")), chance.choice(TEXTS))
            case 4 if disk:
                old = chance.choice([name for name in disk if name.endswith(".py")] or self._names)
                return Rename(old, chance.choice(("moved.py", "data.py", "a/b.py", *self._names)))
            case 5:
                return Write("pyproject.toml", chance.choice((SETTINGS, *OTHER_SETTINGS)))
            case 6:
                return Write("requirements.txt", chance.choice(("torch==2.0\n", "torch<1.9\n", None)))
        name = chance.choice((*self._names, "random.py"))
        return Write(name, chance.choice((None, chance.choice(TEXTS), self._first.get(name, ""))))

    def _in_editor(self, disk: dict[str, str], opened: dict[str, str]) -> Step:
        chance = self._chance
        name = chance.choice(sorted(opened))
        drawn = chance.random()
        if drawn < 0.02:
            return Close(name)
        if drawn < 0.03:
            return Open(name, opened[name])  # once more, without a close
        if drawn < 0.07 and self._waits:
            return Ask(name, chance.choice(REQUESTS), chance.randint(0, len(opened[name])))
        if drawn < 0.12 and self._waits:
            return Pause()
        past = self._past.setdefault(name, [])
        if drawn < 0.16 and name in self._first:
            return Change(name, _difference(opened[name], self._first[name]))  # all is undone
        changes = random_changes(opened[name], chance, past)
        if len(opened[name]) > 20_000:
            changes = (chance.choice(TEXTS),)
        past.append(opened[name])
        del past[:-8]
        return Change(name, changes)
