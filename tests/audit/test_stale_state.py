"""Attributes that are set between epochs, and what is concluded from what workers have of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from loaderlint.audit.epoch_changes import held, replaced, with_effect
from loaderlint.audit.messages import Answer, Holds
from loaderlint.audit.report import Verdict
from loaderlint.audit.sandbox import Outcome
from loaderlint.audit.stale_verdicts import of_changes


@dataclass
class Shift:
    strength: int = 0


@dataclass
class Rows:
    epoch: int = 0
    calls: int = 0
    shift: Shift = field(default_factory=Shift)

    def read(self) -> int:
        return self.epoch + self.shift.strength


def test_only_attributes_with_another_value_were_set() -> None:
    rows = Rows()
    before = held({"dataset": rows})
    rows.epoch, rows.calls, rows.shift.strength = 1, 0, 2
    pairs = replaced(before, held({"dataset": rows}))
    assert [(was.path, was.text, now.text) for was, now in pairs] == [
        ("dataset.epoch", "0", "1"),
        ("dataset.shift.strength", "0", "2"),
    ]


def test_an_attribute_has_an_effect_if_its_old_value_makes_other_samples() -> None:
    rows = Rows()
    before = held({"dataset": rows})
    rows.epoch, rows.calls, rows.shift = 1, 5, Shift(3)
    pairs = replaced(before, held({"dataset": rows}))
    assert list(with_effect(pairs, rows.read, {"dataset": rows})) == ["dataset.epoch", "dataset.shift"]
    assert rows == Rows(1, 5, Shift(3))
    numbers = iter(range(100))
    assert list(with_effect(pairs, lambda: next(numbers), {"dataset": rows})) == [], "nothing is the same twice"


@dataclass
class Settings:
    values: dict[str, int] = field(default_factory=lambda: {"epoch": 0, "calls": 0})
    order: list[int] = field(default_factory=lambda: [3, 4])

    def read(self) -> int:
        return self.values["epoch"] + self.order[1]


def test_items_of_dictionaries_and_lists_are_compared() -> None:
    settings = Settings()
    before = held({"dataset": settings})
    settings.values.update(epoch=1, calls=1, new=1)
    settings.order[1] = 5
    pairs = replaced(before, held({"dataset": settings}))
    assert [(was.path, was.text, now.text) for was, now in pairs] == [
        ("dataset.values['epoch']", "0", "1"),
        ("dataset.values['calls']", "0", "1"),
        ("dataset.order[1]", "4", "5"),
    ]
    effects = list(with_effect(pairs, settings.read, {"dataset": settings}))
    assert effects == ["dataset.values['epoch']", "dataset.order[1]"]
    assert settings == Settings({"epoch": 1, "calls": 1, "new": 1}, [3, 5])


def run(value: str, effect: bool = True, finished: bool = True) -> Outcome:
    answer = Answer({"set": ("dataset.epoch\n0\n1",), "effect": ("dataset.epoch",) if effect else ()})
    first, second = (Holds(0, 7, epoch, {"dataset.epoch": text}) for epoch, text in enumerate(("0", value)))
    return Outcome([first, second, answer], finished=finished)


def test_a_worker_that_has_the_old_value_in_the_second_epoch_is_a_fault() -> None:
    fault = of_changes(run("0"))
    assert fault.verdict is Verdict.FAULT and fault.rule == "stale-persistent-state"
    assert fault.evidence == ("dataset.epoch is 1 in the main process, and 0 in worker 0 (pid 7), epoch 2",)


def test_everything_else_is_none() -> None:
    assert of_changes(run("1")).verdict is Verdict.CLEAN, "the worker has got it"
    assert of_changes(run("0", effect=False)).verdict is Verdict.CLEAN, "no sample depends on it"
    assert of_changes(run("0", finished=False)).verdict is Verdict.NOT_SEEN
    assert of_changes(None).verdict is Verdict.NOT_SEEN
