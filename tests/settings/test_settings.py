"""Settings: where they are found, what each key takes, and what is said about wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.findings.finding import Severity
from loaderlint.project.loaders.loader_wrapper import LoaderWrapper
from loaderlint.settings import settings
from loaderlint.settings.settings import PerFileIgnore, Settings, load

NAMES = ("duplicate-numpy-randomness", "shared-generator", "stored-data-mutation")
CODES = ("LDR101", "LDR102", "LDR401")


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    settings.clear()
    monkeypatch.setattr(settings, "_rule_names", lambda: (NAMES, CODES))


def _own(folder: Path, text: str) -> Path:
    (folder / "loaderlint.toml").write_text(text, encoding="utf-8")
    return folder / "train.py"


def _only_problem(path: Path) -> str:
    _, problems = load(path)
    assert len(problems) == 1, problems
    return problems[0].message


def test_nobody_said_anything(tmp_path: Path) -> None:
    assert load(tmp_path / "train.py") == (Settings(), ())


def test_every_key(tmp_path: Path) -> None:
    path = _own(
        tmp_path,
        """
        select = ["LDR1", "stored-data-mutation"]
        ignore = ["LDR101"]
        extend-select = ["ALL"]
        exclude = ["build/"]
        target-torch = ">=1.8,<2.1"
        target-python = "3.10"
        platforms = ["linux", "windows"]
        start-method = "spawn"
        baseline = "old.json"
        per-file-ignores = { "tests/*" = ["LDR1"] }
        severity = { shared-generator = "hint" }
        [loaders]
        make_loader = { dataset = "data", workers = 2, seeds = true }
        """,
    )
    found, problems = load(path)
    assert problems == ()
    assert found == Settings(
        directory=tmp_path,
        select=("LDR1", "stored-data-mutation"),
        ignore=("LDR101",),
        extend_select=("ALL",),
        per_file_ignores=(PerFileIgnore("tests/*", ("LDR1",)),),
        severity=(("shared-generator", Severity.HINT),),
        exclude=("build/",),
        target_torch=">=1.8,<2.1",
        target_python="3.10",
        platforms=("linux", "windows"),
        start_method="spawn",
        loaders=(LoaderWrapper("make_loader", "data", 2, True),),
        baseline="old.json",
    )


def test_the_nearest_file_upwards_wins_and_silent_ones_are_passed(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.loaderlint]\nstart-method = "spawn"\n')
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nname = 'loaderlint'\n")
    assert load(inner / "x.py")[0].start_method == "spawn"
    (inner / "loaderlint.toml").write_text('start-method = "fork"\n')
    settings.clear()
    assert load(inner / "x.py")[0].start_method == "fork"
    assert load(tmp_path / "a" / "x.py")[0].directory == tmp_path


def test_the_own_file_goes_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.loaderlint]\nstart-method = "spawn"\n')
    assert load(_own(tmp_path, 'start-method = "fork"'))[0].start_method == "fork"


def test_answers_are_kept_until_cleared(tmp_path: Path) -> None:
    path = _own(tmp_path, 'start-method = "fork"')
    assert load(path)[0].start_method == "fork"
    _own(tmp_path, 'start-method = "spawn"')
    assert load(path)[0].start_method == "fork"
    settings.clear()
    assert load(path)[0].start_method == "spawn"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("igonre = []", "unknown setting 'igonre'; did you mean 'ignore'?"),
        ("target_torch = '2'", "unknown setting 'target_torch'; write 'target-torch'"),
        ("startMethod = 'fork'", "unknown setting 'startMethod'; write 'start-method'"),
        ("[tool.loaderlint]", "in loaderlint.toml the keys are at the top level, without [tool.loaderlint]"),
        ("select = 'LDR1'", """select: must be a list of strings such as ["LDR1"], not 'LDR1'"""),
        ("select = ['shared-generators']", "select: no rule is called 'shared-generators'; did you mean 'shared-gen"),
        ("ignore = ['']", "ignore: no rule is called ''"),
        ("target-torch = 2.4", 'target-torch: must be a string such as "2.4", with quotes'),
        ("target-python = 'three'", "target-python: must be a version"),
        ("target-python = 3", "target-python: must be a version"),
        ("platforms = ['linux', 'darwin']", "platforms: 'darwin' is not a platform; choose from linux, macos, windows"),
        ("start-method = 'forksever'", "start-method: 'forksever' is not a start method; did you mean 'forkserver'?"),
        ("start-method = []", "start-method: [] is not a start method; choose from fork, spawn, forkserver"),
        ("severity = { shared-generator = 'fatal' }", "severity: 'shared-generator' must be one of error, warning"),
        ("severity = { LDR1 = 'warn' }", "information, hint, not 'warn'; did you mean 'warning'?"),
        (
            "severity = { shared-generatr = 'hint' }",
            "severity: no rule is called 'shared-generatr'; did you mean 'shared",
        ),
        (
            "per-file-ignores = { 'x' = ['shared-generatr'] }",
            "no rule is called 'shared-generatr'; did you mean 'shared",
        ),
        ("ignore = ['LDR9']", "no rule is called 'LDR9', and no code starts with it; families are LDR1, LDR4"),
        ("platforms = ['beos']", "platforms: 'beos' is not a platform; choose from linux, macos, windows"),
        ("platforms = []", "platforms: names no platform; choose from linux, macos, windows"),
        ("[loaderlint]", "in loaderlint.toml the keys are at the top level, without [tool.loaderlint]"),
        ("loaders = { f = 'x' }", "loaders: 'f' must be a table with dataset, workers, seeds, not 'x'"),
        ("baseline = ['x']", "baseline: must be the path of a file such as"),
        ("severity = 'error'", "severity: must be a table such as"),
        ("exclude = 5", "exclude: must be a list of strings, not 5"),
        ("per-file-ignores = { 'x' = 'LDR1' }", "per-file-ignores: 'x' must be a list of strings"),
        ("loaders = { f = { datset = 'x' } }", "loaders: 'f': unknown key 'datset'; did you mean 'dataset'?"),
        ("loaders = { f = { seeds = 1 } }", "loaders: 'f': seeds must be true or false, not 1"),
        ("loaders = { f = { workers = -1 } }", "loaders: 'f': workers must be an argument's name or its position"),
        ("loaders = { f = { dataset = true } }", "loaders: 'f': dataset must be an argument's name or its position"),
        ("select = [", "is not valid TOML:"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = _own(tmp_path, text)
    assert message in _only_problem(path)
    assert load(path)[1][0].path == tmp_path / "loaderlint.toml"


def test_the_rest_applies(tmp_path: Path) -> None:
    path = _own(tmp_path, "selct = []\nplatforms = ['linux', 'beos']\nseverity = { LDR101 = 'x', LDR1 = 'hint' }\n")
    found, problems = load(path)
    assert len(problems) == 3
    assert found.platforms == ("linux",)
    assert found.severity == (("LDR1", Severity.HINT),)


def test_unreadable_bytes_are_a_message(tmp_path: Path) -> None:
    (tmp_path / "loaderlint.toml").write_bytes(b"select = ['\xff']")
    assert "is not valid TOML" in _only_problem(tmp_path / "x.py")


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "loaderlint.toml").write_bytes(b"\xef\xbb\xbfstart-method = 'fork'")
    assert load(tmp_path / "x.py")[0].start_method == "fork"


def test_broken_pyproject_without_our_name_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project\n")
    assert load(tmp_path / "x.py")[1] == ()


def test_overrides_win_key_by_key(tmp_path: Path) -> None:
    path = _own(tmp_path, 'start-method = "fork"\ntarget-torch = "1.8"\nignore = ["LDR102"]')
    found, problems = load(path, {"start-method": "spawn", "platforms": ["macos"]})
    assert problems == ()
    assert (found.start_method, found.target_torch, found.platforms) == ("spawn", "1.8", ("macos",))
    assert not found.enabled("shared-generator", "LDR102")


def test_a_select_override_sets_aside_what_the_file_ignores(tmp_path: Path) -> None:
    path = _own(tmp_path, 'ignore = ["LDR102"]\nextend-select = ["LDR4"]')
    found, _ = load(path, {"select": ["shared-generator"]})
    assert found.enabled("shared-generator", "LDR102")
    assert not found.enabled("stored-data-mutation", "LDR401")


def test_a_bad_override_has_no_path(tmp_path: Path) -> None:
    _, problems = load(tmp_path / "x.py", {"start-method": "thread"})
    assert [problem.path for problem in problems] == [None]


@pytest.mark.parametrize(
    ("chosen", "by_default", "runs"),
    [
        (Settings(), True, True),
        (Settings(), False, False),
        (Settings(extend_select=("LDR1",)), False, True),
        (Settings(select=()), True, False),
        (Settings(select=("LDR4",)), True, False),
        (Settings(select=("ALL",)), False, True),
        (Settings(select=("ALL",), ignore=("LDR1",)), True, False),
        (Settings(select=("LDR102",), ignore=("LDR1",)), True, True),
        (Settings(select=("shared-generator",), ignore=("LDR102",)), True, False),
        (Settings(select=("LDR1",), ignore=("LDR10",)), True, False),
        (Settings(select=("LDR10",), ignore=("LDR1",)), True, True),
        (Settings(ignore=("ALL",), extend_select=("shared-generator",)), True, True),
    ],
)
def test_the_most_exact_selector_decides(chosen: Settings, by_default: bool, runs: bool) -> None:
    assert chosen.enabled("shared-generator", "LDR102", by_default) is runs


def test_per_file_ignores_and_exclude_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    path = _own(tmp_path, "exclude = ['old/**']\nper-file-ignores = { 'tests/*.py' = ['LDR1'] }")
    found, _ = load(path)
    assert found.ignored_in(tmp_path / "tests" / "a.py", "shared-generator", "LDR102")
    assert not found.ignored_in(tmp_path / "tests" / "a.py", "stored-data-mutation", "LDR401")
    assert not found.ignored_in(tmp_path / "a.py", "shared-generator", "LDR102")
    assert found.excluded(tmp_path / "old" / "deep" / "b.py")
    assert not found.excluded(tmp_path / "new.py")
    assert not found.excluded(Path("/elsewhere/old/b.py"))


def test_the_more_exact_severity_wins() -> None:
    chosen = Settings(severity=(("shared-generator", Severity.ERROR), ("LDR1", Severity.HINT)))
    assert chosen.severity_of("shared-generator", "LDR102") is Severity.ERROR
    assert chosen.severity_of("duplicate-numpy-randomness", "LDR101") is Severity.HINT
    assert chosen.severity_of("stored-data-mutation", "LDR401") is None


def test_editor_settings_get_their_names() -> None:
    given: dict[str, object] = {
        "targetTorch": "2.4",
        "startMethod": "",
        "extendSelect": [],
        "perFileIgnores": None,
        "trace": "off",
    }
    assert settings.from_editor(given) == {"target-torch": "2.4", "trace": "off"}


DEEP = "[" * 50_000
HOSTILE = {
    "a version of many digits": 'target-torch = "' + "9" * 5_000 + '"',
    "a number of many digits": "target-torch = " + "9" * 5_000,
    "a hexadecimal number of many digits": "baseline = 0x" + "f" * 5_000,
    "a position of many digits": "loaders = {make = {dataset = 0x" + "f" * 5_000 + "}}",
    "a name of many dots": "a." * 100_000 + "b = 1",
    "a table of many dots": "[" + "a." * 100_000 + "b]",
    "nested lists": f"select = {DEEP}",
    "a long key": "x" * 500_000 + " = 1",
    "a long rule": 'select = ["' + "x" * 500_000 + '"]',
    "many rules": "select = [" + '"x",' * 50_000 + "]",
    "a long pattern": 'exclude = ["' + "?" * 100_000 + '"]',
    "patterns that are none": 'exclude = ["[", "a\\\\", 1]',
    "a pattern with an open bracket": 'per-file-ignores = {"[a" = ["LDR1"]}',
    "no text": "\xff\xfe",
    "a severity of the wrong kind": "severity = {LDR1 = [[{}]]}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_setting_stops_anything(text: str, tmp_path: Path) -> None:
    path = _own(tmp_path, "")
    (tmp_path / "loaderlint.toml").write_bytes(text.encode("latin-1"))
    found, problems = load(path)
    assert problems and all(len(one.message) < 1_000 for one in problems) and len(problems) <= 25
    assert found.told()


def test_patterns_that_backtrack(tmp_path: Path) -> None:
    pattern = "*a" * 200 + "b"
    path = _own(tmp_path, f'exclude = ["{pattern}"]\nper-file-ignores = {{"{pattern}" = ["LDR1"]}}\n')
    found, problems = load(path)
    assert not problems
    assert not found.excluded(tmp_path / ("a" * 250))
    assert not found.ignored_in(tmp_path / ("a" * 250), NAMES[0], CODES[0])
