"""Counts the work of one keystroke, and what stays in memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loaderlint.engine import Cancelled, Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.sources import open_file
from tests.engine.projects import FILES, cold, shown, write


class Typing:
    """A workspace with the small project, and edits of it."""

    def __init__(self, folder: Path) -> None:
        self.root = write(folder.resolve())
        self.workspace = Workspace([self.root])
        self.texts: dict[Path, str] = {}
        self.check()

    def check(self) -> dict[str, list[tuple[object, ...]]]:
        return shown(self.workspace.check(), self.root)

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = self.texts.get(path, FILES[name])
        assert old in text
        self.texts[path] = text.replace(old, new, 1)
        self.workspace.set_text(path, self.texts[path])

    @property
    def links(self) -> int:
        return self.workspace.project(self.root).links

    def found(self, name: str) -> list[Diagnostic]:
        return list(self.workspace.check([self.root / name])[self.root / name])


@pytest.fixture
def typing(tmp_path: Path) -> Typing:
    return Typing(tmp_path)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("demo/datasets.py", '    """Pictures."""\n', '    """Pictures."""\n\n    # more\n'),
        ("demo/datasets.py", "        image -= image.std()", "        # darker\n        image -= image.std()"),
        ("demo/datasets.py", "        image -= image.std()", "        image  -=  image.std()"),
        ("demo/datasets.py", 'return f"{len(self)} of {SIZE}"', 'return f"{len(self)} / {SIZE + 1}"'),
        ("demo/datasets.py", "    return sorted(os.listdir(folder))", "    return os.listdir(folder)"),
        ("demo/transforms.py", "if value]", "if value is not None]"),
        ("demo/transforms.py", "if value]", "if value is not None"),
        ("demo/transforms.py", '"""Transforms."""', '"""What is done to images."""'),
        ("demo/models.py", "return x", "return x + 1"),
        ("demo/datasets.py", "        self.count = count", "        coun\n        self.count = count"),
    ],
)
def test_what_no_finding_rests_on_links_nothing_anew(typing: Typing, name: str, old: str, new: str) -> None:
    before = typing.links
    typing.replace(name, old, new)
    assert typing.check() == cold(typing.root, typing.texts)
    assert typing.links == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("demo/datasets.py", "        image -= image.std()\n", ""),
        ("demo/datasets.py", "self.data = np.load(path)", "self.data = np.load(path).copy()"),
        ("demo/transforms.py", "np.random.randn", "np.random.rand"),
        ("demo/transforms.py", "import numpy as np\n", "import numpy as np\nnp.random.seed(3)\n"),
        ("demo/transforms.py", "def unused", "def jitter"),
        ("demo/datasets.py", "SIZE = 16\n", "jitter = len\n"),
        ("demo/datasets.py", 'return f"{len(self)} of {SIZE}"', "self.data = []"),
        ("demo/train.py", "default=4", "default=0"),
        ("demo/models.py", "model = Model()", "from demo.train import main; main()"),
        ("demo/transforms.py", "import random\n", "import random\nfrom demo.models import step as jitter\n"),
    ],
)
def test_what_a_finding_may_rest_on_links_anew(typing: Typing, name: str, old: str, new: str) -> None:
    before = typing.links
    typing.replace(name, old, new)
    assert typing.check() == cold(typing.root, typing.texts)
    assert typing.links == before + 1


def test_only_the_piece_that_changed_is_parsed(typing: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    lowered = open_file._lowered
    monkeypatch.setattr(open_file, "_lowered", lambda piece: parsed.append(piece.text) or lowered(piece))
    typing.replace("demo/datasets.py", "        image -= image.std()", "        image -= image.sum()")
    typing.check()
    assert len(parsed) == 1 and "image.sum()" in parsed[0]
    parsed.clear()
    typing.replace("demo/datasets.py", "    return sorted(os.listdir(folder))", "    return os.listdir(folder)")
    typing.check()
    assert parsed == []


def test_lines_that_move_keep_findings_and_fingerprints(typing: Typing) -> None:
    before = typing.found("demo/datasets.py")
    assert len(before) == 2
    typing.replace("demo/datasets.py", "import os\n", "# one\n# two\n\nimport os\n")
    after = typing.found("demo/datasets.py")
    assert [d.fingerprint for d in after] == [d.fingerprint for d in before]
    assert [d.span.line for d in after] == [d.span.line + 3 for d in before]
    assert [n.span.line for d in after for n in d.evidence if n.path.name == "datasets.py"] == [
        n.span.line + 3 for d in before for n in d.evidence if n.path.name == "datasets.py"
    ]
    assert len({d.fingerprint for d in after}) == len(after)


def test_new_code_around_a_finding_keeps_its_fingerprint(typing: Typing) -> None:
    before = {d.fingerprint for d in typing.found("demo/datasets.py")}
    typing.replace("demo/datasets.py", "SIZE = 16\n", "SIZE = 16\n\n\ndef new():\n    return np.random.rand(SIZE)\n")
    assert {d.fingerprint for d in typing.found("demo/datasets.py")} == before


# --- half-typed text --------------------------------------------------------------------------------------------------


def _lines(found: list[Diagnostic]) -> list[tuple[str, int]]:
    return [(d.code, d.span.line) for d in found]


def test_half_typed_text_keeps_its_findings_where_their_lines_still_stand(typing: Typing) -> None:
    before = _lines(typing.found("demo/datasets.py"))
    typing.replace(
        "demo/datasets.py", "        self.file.seek(index)", "        self.file.seek(index)\n        x = foo("
    )
    assert _lines(typing.found("demo/datasets.py")) == [(code, line + (line > 27)) for code, line in before]


def test_the_line_that_is_being_typed_loses_its_finding(typing: Typing) -> None:
    before = typing.found("demo/datasets.py")
    typing.replace("demo/datasets.py", "        image -= image.std()", "        image -= image.std(")
    after = typing.found("demo/datasets.py")
    assert {d.code for d in before} - {d.code for d in after} == {"LDR401"}
    assert len(after) == len(before) - 1
    typing.replace("demo/datasets.py", "        image -= image.std(", "        image -= image.std()")
    assert _lines(typing.found("demo/datasets.py")) == _lines(before)


def test_a_line_that_stands_there_twice_has_no_finding(typing: Typing) -> None:
    line = "        image -= image.std()\n"
    typing.replace("demo/datasets.py", line, f"{line}{line}        x = (\n")
    assert "LDR401" not in {d.code for d in typing.found("demo/datasets.py")}


def test_a_half_typed_file_leaves_the_findings_of_others(typing: Typing) -> None:
    before = typing.found("demo/datasets.py")
    typing.replace("demo/train.py", "    for batch in train_loader:", "    for batch in train_loader")
    assert _lines(typing.found("demo/datasets.py")) == _lines(before)
    assert {d.code for d in typing.found("demo/train.py")} == {"LDR103"}


def test_a_name_that_is_its_own_old_value_ends(typing: Typing) -> None:
    typing.replace(
        "demo/datasets.py", "        self.file.seek(index)", "        for x in image:\n            total += x"
    )
    assert typing.check() == cold(typing.root, typing.texts)


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_a_check_can_be_stopped_anywhere(typing: Typing) -> None:
    expected = typing.check()
    stops = 0
    for allowed in range(0, 120, 3):
        fresh = Workspace([typing.root])
        asked = iter(range(allowed))
        try:
            fresh.check(stop=lambda asked=asked: next(asked, None) is None)
        except Cancelled:
            stops += 1
        assert shown(fresh.check(), typing.root) == expected
    assert stops >= 5


def test_a_stopped_check_leaves_nothing_half_done(typing: Typing) -> None:
    for allowed in range(12):
        typing.replace("demo/datasets.py", "index", f"index{allowed}")
        asked = iter(range(allowed))
        try:
            typing.workspace.check(stop=lambda asked=asked: next(asked, None) is None)
        except Cancelled:
            pass
        assert typing.check() == cold(typing.root, typing.texts)


def test_progress_counts_files(typing: Typing) -> None:
    seen: list[tuple[int, int]] = []
    Workspace([typing.root]).check(progress=lambda done, total: seen.append((done, total)))
    files = sum(name.endswith(".py") for name in FILES)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len({done for done, _ in seen}) > files
    assert seen[-1] == (2 * files, 2 * files)


# --- files that cannot be read ----------------------------------------------------------------------------------------

BAD = {
    "binary": b"\x00\x01\x02DataLoader\xff",
    "not utf-8": b"# DataLoader \xff\xfe\n",
    "python 2": b"from torch.utils.data import DataLoader\nprint 'DataLoader'\nexec 'x = 1'\n",
    "10 MB": b"x = 1  # DataLoader Dataset\n" * 400_000,
    "deep": b"DataLoader = " + b"(" * 20_000 + b")" * 20_000 + b"\n",
    "long chain": b"DataLoader = " + b"1 + " * 40_000 + b"1\n",
    "unclosed": b"class Dataset(\n" * 500 + b'"""',
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", ["demo/bad.py", "abad.py"])
def test_one_bad_file_disturbs_no_other(typing: Typing, kind: str, name: str) -> None:
    before = typing.check()
    bad = typing.root / name
    bad.write_bytes(BAD[kind])
    typing.workspace.forget([bad])
    after = typing.check()
    after.pop(name)
    assert after == before
    bad.unlink()
    typing.workspace.forget([bad])
    assert typing.check() == before


def test_a_file_that_may_not_be_read_is_a_problem_until_it_may(typing: Typing) -> None:
    before = typing.check()
    bad = typing.root / "bad.py"
    bad.write_bytes(b"\x00")
    typing.workspace.forget([bad])
    typing.check()
    assert [problem.path for problem in typing.workspace.problems] == [bad]
    typing.workspace.set_text(bad, "x = 1\n")
    typing.check()
    assert typing.workspace.problems == []
    typing.workspace.set_text(bad, None)
    bad.write_text("x = 1\n", "utf-8")
    typing.workspace.forget([bad])
    after = typing.check()
    assert typing.workspace.problems == []
    assert after.pop("bad.py") == []
    assert after == before


def test_problems_of_nested_settings_files_are_said(typing: Typing) -> None:
    (typing.root / "demo" / "loaderlint.toml").write_text('ignore = ["no-such-rule"]\n')
    workspace = Workspace([typing.root])
    workspace.forget([typing.root / "demo" / "loaderlint.toml"])
    workspace.check()
    assert [problem.path for problem in workspace.problems] == [typing.root / "demo" / "loaderlint.toml"]


def test_a_suppression_may_stand_on_the_last_line(typing: Typing) -> None:
    typing.replace("demo/datasets.py", "image -= image.std()", "image -= (\n            image.std()\n        )")
    assert "LDR401" in {d.code for d in typing.found("demo/datasets.py")}
    typing.replace("demo/datasets.py", "\n        )", "\n        )  # loaderlint: ignore[stored-data-mutation]")
    assert "LDR401" not in {d.code for d in typing.found("demo/datasets.py")}


# --- memory -----------------------------------------------------------------------------------------------------------


def _kept(typing: Typing) -> int:
    """The number of pieces, facts and spans in memory for a file, with everything that waits for the next check."""
    own = typing.workspace.project(typing.root).store
    files = [file for file in (*own._open.values(), *own.before.values()) if file is not None]
    return sum(len(f.pieces) + len(f.memo) + len(f.stale) + sum(map(len, f.spans.values())) for f in files)


def test_what_is_kept_does_not_grow_with_edits(typing: Typing) -> None:
    path = typing.root / "demo/datasets.py"
    text = FILES["demo/datasets.py"]
    typing.check()
    before = _kept(typing)
    for number in range(300):
        broken = "(" if number % 3 == 0 else ""
        typing.workspace.set_text(path, text.replace("image.std()", f"image.std() + {number}{broken}"))
        if number % 10 == 0:
            typing.check()
    typing.workspace.set_text(path, text)
    typing.check()
    assert _kept(typing) <= before + 4


def test_ten_thousand_edits_without_a_look_keep_one_version(typing: Typing) -> None:
    path = typing.root / "demo/transforms.py"
    text = FILES["demo/transforms.py"]
    typing.check()
    first = typing.workspace.project(path).store.open(path)
    for number in range(10_000):
        typing.workspace.set_text(path, text.replace("if value]", f"if value > {number}]"))
    own = typing.workspace.project(path).store
    assert own.before == {path: first}
    assert len(own._data) + len(own._open) <= 2 * len(FILES)
    assert sys.getsizeof(own.open(path).memo) <= sys.getsizeof(first.memo) * 2
    assert typing.check() == cold(typing.root, {path: text.replace("if value]", "if value > 9999]")})
