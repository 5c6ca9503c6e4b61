"""A server that saw any edits shows what a fresh answer for the same texts shows."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.robustness import edits
from tests.robustness.client import Client, ServerError
from tests.robustness.edits import Change, Generator, Open, Replace, Step
from tests.robustness.player import Different, Failure, Player, Way, failing, position, shrunk
from tests.robustness.projects import project, write
from tests.robustness.replays import REPLAYS, Replay
from tests.robustness.scale import cases

WAYS = (
    Way("utf-16", False),
    Way("utf-8", True),
    Way("utf-16", True),
    Way("utf-8", False),
    Way("utf-32", False),
)
SESSIONS = cases(10, quick=2)
EDITS_OF_A_SESSION = 500
STEPS_OF_A_COMPARISON = 10

Record = Callable[[str, object], None]


@pytest.mark.parametrize("seed", SESSIONS)
def test_random_edits_of_a_project(tmp_path: Path, seed: int, record_property: Record) -> None:
    chance = random.Random(seed)
    way = WAYS[seed % len(WAYS)]
    files = project(chance)
    root = write(tmp_path / "project", files)
    with Client(root, tmp_path / "log", encoding=way.encoding, pulls=way.pulls) as client:
        player = Player(root, way, client, dict(files))
        generator = Generator(files, chance)
        played: list[Step] = [Open(name) for name in dict.fromkeys((*list(files)[1:4], "certain.py"))]
        for step in played:
            player.play(step)
        while player.counts["edits"] < EDITS_OF_A_SESSION:
            before = (dict(player.disk), _openings(player))
            batch: list[Step] = []
            try:
                for _ in range(STEPS_OF_A_COMPARISON):
                    batch.append(generator.step(player.disk, player.opened))
                    player.play(batch[-1])
                batch += player.compare()
            except (Different, ServerError) as error:
                pytest.fail(f"seed {seed}: {_smallest(way, files, played, before, batch, str(error))}", pytrace=False)
            played += batch
        _assert_like_a_fresh_server(player, tmp_path)
        for name, count in player.counts.items():
            record_property(name, count)
    assert player.counts["findings"], "nothing was found in any text, so nothing was compared"


def _openings(player: Player) -> tuple[Open, ...]:
    return tuple(Open(name, text) for name, text in player.opened.items())


def _smallest(
    way: Way,
    files: dict[str, str],
    played: list[Step],
    before: tuple[dict[str, str], tuple[Open, ...]],
    batch: list[Step],
    said: str,
) -> Failure:
    """The failure from where the last comparison left off, or from the beginning if it does not show itself so; as
    small as can be."""
    disk, openings = before
    for texts, steps in ((disk, (*openings, edits.Pause(), *batch)), (files, (*played, *batch))):
        if again := failing(way, texts, steps):
            return shrunk(Failure(way, texts, tuple(steps), again))
    return Failure(way, files, (*played, *batch), f"{said}\n(not seen again when it was replayed)")


def _assert_like_a_fresh_server(player: Player, folder: Path) -> None:
    """A new process that opens the same texts shows the very same diagnostics."""
    way = player.way
    with Client(player.root, folder / "fresh", encoding=way.encoding, pulls=way.pulls) as client:
        other = Player(player.root, way, client, player.disk)
        for opening in _openings(player):
            other.play(opening)
        client.settle()
        for uri in map(player.uri, player.opened):
            assert client.shown(uri) == player.client.shown(uri)
        assert not client.errors()
    player.counts["comparisons with a fresh process"] += 1


@pytest.mark.parametrize("replay", [pytest.param(one, id=one.name) for one in REPLAYS])
def test_what_was_found_before(replay: Replay, request: pytest.FixtureRequest) -> None:
    if replay.xfail:
        request.applymarker(pytest.mark.xfail(strict=True, reason=replay.xfail))
    assert not failing(replay.way, dict(replay.files), replay.steps)


# --- the campaign itself ---------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_steps() -> None:
    assert _steps(7) == _steps(7) != _steps(8)


def _steps(seed: int) -> list[Step]:
    chance = random.Random(seed)
    files = project(chance)
    generator = Generator(files, chance)
    return [generator.step(files, files) for _ in range(50)]


@pytest.mark.parametrize("seed", range(20))
def test_changes_can_be_sent_as_positions(seed: int) -> None:
    """Each offset that a change means has a position of its own."""
    chance = random.Random(seed)
    text = chance.choice(("a\r\nb\rc\n\U0001f600e\u0301\r\n", "", "\r", "\n\r"))
    at = [edits.on_boundary(text, place) for place in range(-1, len(text) + 2)]
    places = {edit: tuple(position(text, edit, "utf-16").values()) for edit in at}
    assert len(set(places.values())) == len(places)


def test_a_failure_is_made_small() -> None:
    steps: tuple[Step, ...] = tuple(Change("a.py", (Replace(number, number, str(number)),)) for number in range(40))
    needed = {steps[7], steps[31]}

    def again(failure: Failure) -> str:
        return "wrong" if needed <= set(failure.steps) and "a.py" in failure.files else ""

    whole = Failure(WAYS[0], {"a.py": "", "b.py": ""}, steps, "wrong")
    small = shrunk(whole, again)
    assert (set(small.steps), list(small.files)) == (needed, ["a.py"])
    assert repr(steps[7]) in str(small)


def test_a_lost_finding_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = project(random.Random(7))
    root = write(tmp_path / "project", files)
    with Client(root, tmp_path / "log") as client:
        player = Player(root, WAYS[0], client, files)
        for name in files:
            if name.endswith(".py"):
                player.play(Open(name))
        player.compare()
        assert player.counts["findings"]
        monkeypatch.setattr(client, "published", {})
        with pytest.raises(Different):
            player.compare()
