"""Pauses in the typing."""

from __future__ import annotations

import math

import pytest

from loaderlint.lsp.typing_pauses import Typing


def typed(*times: float) -> Typing:
    typing = Typing()
    for time in times:
        typing.note(time)
    return typing


def test_who_has_not_typed_pauses() -> None:
    assert Typing().left(1.0, math.inf) == 0


@pytest.mark.parametrize(("took", "pause"), [(0.0, 0.05), (0.02, 0.1), (0.05, 0.25), (9.0, 0.5), (math.inf, 0.5)])
def test_the_pause_after_one_edit_depends_on_the_last_linking(took: float, pause: float) -> None:
    typing = typed(10.0)
    assert typing.left(10.0, took) == pytest.approx(pause)
    assert typing.left(10.04, took) == pytest.approx(pause - 0.04)
    assert typing.left(10.0 + pause, took) == 0


def test_there_is_no_pause_between_keys_that_come_as_the_last_ones_did() -> None:
    typing = typed(1.0, 1.1, 1.3, 1.4)
    assert typing.left(1.6, 0.0) > 0
    assert typing.left(1.71, 0.0) == 0


def test_only_the_last_gaps_count() -> None:
    assert typed(1.0, 1.4, 1.41, 1.42, 1.43).left(1.43, 0.0) == pytest.approx(0.05)


def test_after_a_pause_the_gaps_before_it_do_not_count() -> None:
    assert typed(1.0, 1.3, 2.0).left(2.0, 0.0) == pytest.approx(0.05)


def test_the_next_key_is_expected_as_the_last_ones_came() -> None:
    assert Typing().next_key == typed(1.0).next_key == typed(1.0, 1.3, 2.0).next_key == 0
    assert typed(1.0, 1.1, 1.2).next_key == pytest.approx(0.15)


def test_no_pause_is_longer_than_half_a_second() -> None:
    assert typed(1.0, 1.45).left(1.45, 0.0) == pytest.approx(0.5)
