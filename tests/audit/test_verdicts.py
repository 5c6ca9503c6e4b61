"""What is concluded from what was seen, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from loaderlint.audit import auditing
from loaderlint.audit.evidence import Evidence, Facts
from loaderlint.audit.messages import (
    Answer,
    Batch,
    EpochEnded,
    Failed,
    Failure,
    Message,
    Move,
    Started,
    StreamUse,
    Unit,
    Used,
)
from loaderlint.audit.random_verdicts import drawn_apart
from loaderlint.audit.report import Result, Verdict
from loaderlint.audit.sandbox import Outcome, Stuck
from loaderlint.audit.verdicts import results


def facts(workers: int = 2, iterable: bool = False) -> Facts:
    return Facts(workers, "fork", False, iterable, False, "2.4", 2, 8, "Rows")


def sample(worker: int, epoch: int, index: int, *uses: StreamUse, digest: str = "", kind: str = "sample") -> Batch:
    unit = Unit(kind, index, str(index), digest or f"d{index}", uses)
    return Batch(worker, 100 + 10 * epoch + worker, epoch, (unit,))


def use(before: str, after: str, *moves: str, name: str = "dataset.rng") -> StreamUse:
    return StreamUse(name, before, after, tuple(Move(("f (a.py:1)",), state) for state in moves))


def run(*messages: Message, complete: bool = True) -> Outcome:
    return Outcome([*messages, EpochEnded(0, 8, complete), EpochEnded(1, 8, complete)], finished=True)


def found(evidence: Evidence, verdict: Verdict = Verdict.FAULT) -> dict[str, Result]:
    return {each.check: each for each in results(evidence) if each.verdict is verdict}


def both(*messages: Message) -> tuple[Message, ...]:
    """The messages, and a later epoch that gives items too."""
    return (*messages, sample(0, 1, 90), sample(1, 1, 91))


def test_workers_that_draw_from_one_state_draw_alike() -> None:
    seen = Evidence(facts(), run(*both(sample(0, 0, 0, use("a", "b")), sample(1, 0, 4, use("a", "b")))))
    (check,) = found(seen).items()
    assert check[0] == "workers-draw-alike" and check[1].rule == "shared-generator"
    assert "worker 1 (pid 101), epoch 1, at sample 4: state a -> b" in check[1].evidence


def test_draws_without_an_effect_are_a_note() -> None:
    messages = both(sample(0, 0, 0, use("a", "b")), sample(1, 0, 4, use("a", "b")))
    idle = Evidence(facts(), run(*messages), idle=frozenset({"dataset.rng"}))
    assert found(idle) == {} and "workers-draw-alike" in found(idle, Verdict.NOTE)


def test_a_generator_that_only_seeds_another_one_may_be_alike_in_all_workers() -> None:
    def torch(worker: int, function: str = "f (a.py:1)") -> StreamUse:
        return StreamUse("torch", f"t{worker}", f"u{worker}", (Move((function,), f"u{worker}"),))

    def is_fault(*messages: Message) -> bool:
        return "workers-draw-alike" in found(Evidence(facts(), run(*both(*messages))))

    old = use("a", "b", "b")
    assert not is_fault(*(sample(worker, 0, worker, old, torch(worker)) for worker in (0, 1)))
    assert is_fault(*(sample(worker, 0, worker, old) for worker in (0, 1))), "nothing else goes into the seed"
    elsewhere = "g (a.py:9)"
    assert is_fault(*(sample(worker, 0, worker, old, torch(worker, elsewhere)) for worker in (0, 1)))
    later = (sample(worker, 0, 4 + worker, use("b", "c", "c"), torch(2 + worker)) for worker in (0, 1))
    assert is_fault(*(sample(worker, 0, worker, old, torch(worker)) for worker in (0, 1)), *later), "of each sample"


def test_equal_samples_from_different_states_are_no_fault() -> None:
    messages = both(sample(0, 0, 0, use("a", "b"), digest="same"), sample(1, 0, 4, use("c", "d"), digest="same"))
    assert found(Evidence(facts(), run(*messages))) == {}


def test_one_state_in_which_nobody_draws_is_no_fault() -> None:
    messages = both(sample(0, 0, 0, use("a", "a", "b", "a")), sample(1, 0, 4, use("a", "a", "b", "a")))
    assert found(Evidence(facts(), run(*messages))) == {}


def test_workers_that_come_to_one_state_were_seeded_alike() -> None:
    seen = Evidence(facts(), run(*both(sample(0, 0, 0, use("a", "z")), sample(1, 0, 4, use("b", "z")))))
    assert set(found(seen)) == {"workers-draw-alike"}


def test_a_common_order_in_the_first_item_is_no_fault_and_a_draw_in_later_ones_is() -> None:
    def items(index: int) -> Evidence:
        one, other = (sample(each, 0, index, use("a", "b"), kind="next", digest=f"w{each}") for each in (0, 1))
        return Evidence(facts(iterable=True), run(*both(one, other)))

    assert found(items(0)) == {}
    assert set(found(items(1))) == {"workers-draw-alike"}


def test_epochs_that_draw_from_one_state_repeat() -> None:
    name = "random"
    starts = [Started(0, 100 + 10 * epoch, epoch, {name: f"torch{epoch}"}, {name: "seed"}) for epoch in (0, 1)]
    messages = [*starts, sample(0, 0, 0, use("s", "t", name=name)), sample(0, 1, 1, use("s", "t", name=name))]
    result = found(Evidence(facts(1), run(*messages)))["epochs-draw-alike"]
    assert result.rule == "constant-worker-seed"


def test_numpy_that_nobody_seeds_is_another_rule_than_a_constant_seed() -> None:
    starts = [Started(worker, 100 + worker, 0, {"NumPy": "born"}, {"NumPy": "born"}) for worker in (0, 1)]
    draws = [sample(worker, 0, worker, use("born", "b", name="NumPy")) for worker in (0, 1)]
    result = found(Evidence(facts(), run(*both(*starts, *draws))))["workers-draw-alike"]
    assert result.rule == "duplicate-numpy-randomness"


def test_samples_that_go_over_the_same_states_reseed() -> None:
    first, second = use("a", "z", "seed", "z"), use("z", "z", "seed", "z")
    seen = Evidence(facts(1), run(sample(0, 0, 0, first), sample(0, 0, 1, second), sample(0, 1, 2)))
    assert found(seen)["samples-reseed"].rule == "reseed-per-sample"
    put_back = use("b", "c", "seed", "z", "b", "c"), use("c", "c", "seed", "z", "c")
    assert (
        found(Evidence(facts(1), run(sample(0, 0, 0, put_back[0]), sample(0, 0, 1, put_back[1]), sample(0, 1, 2))))
        == {}
    )


def iterated(counts: tuple[int, ...], complete: bool = True) -> Outcome:
    messages = [
        sample(worker, epoch, index, kind="next", digest=f"d{index}")
        for epoch in (0, 1)
        for worker, count in enumerate(counts)
        for index in range(count)
    ]
    return run(*messages, complete=complete)


def test_items_are_counted_with_workers_and_without() -> None:
    twice = Evidence(facts(iterable=True), iterated((3, 3)), alone=iterated((3,)))
    assert found(twice)["items"].rule == "unsharded-iterable-dataset"
    missing = Evidence(facts(iterable=True), iterated((1, 1)), alone=iterated((3,)))
    assert found(missing)["items"].rule is None


def test_the_heads_of_long_epochs_are_compared_if_they_say_something() -> None:
    def begin(*digests: str) -> dict[str, Result]:
        messages = [
            sample(worker, 0, index, kind="next", digest=text)
            for worker in (0, 1)
            for index, text in enumerate(digests)
        ]
        outcome = run(*both(*messages), complete=False)
        return found(Evidence(facts(iterable=True), outcome, alone=outcome))

    assert begin("a", "b")["items"].rule == "unsharded-iterable-dataset"
    assert begin("a", "a") == {}


def test_an_epoch_without_items_is_a_fault() -> None:
    messages = [sample(0, 0, index, kind="next") for index in range(3)]
    assert found(Evidence(facts(0, iterable=True), run(*messages)))["epochs"].rule == "exhausted-iterable"


def test_only_who_waits_hangs() -> None:
    def ended(waiting: bool) -> Evidence:
        stuck = Stuck(1, 7, "[4]", 9.0, waiting, 'File "concurrent/futures/_base.py", line 1 in result')
        return Evidence(facts(), Outcome(stuck=[stuck], seconds=10.0))

    assert found(ended(True))["hanging"].rule == "executor-across-fork"
    assert found(ended(False)) == {}
    assert "hanging" in found(ended(False), Verdict.NOT_SEEN)


def test_what_cannot_be_pickled_is_a_fault_where_it_is_pickled() -> None:
    problems = {"copied": ("0",), "shared": ("0",), "problems": ("dataset.lock\ncannot pickle '_thread.lock' object",)}
    forked = Evidence(facts(), run(*both()), pickled=problems)
    assert found(forked) == {} and "pickling" in found(forked, Verdict.NOTE)
    spawned = Facts(2, "spawn", False, False, False, "2.4", 2, 8, "Rows")
    assert found(Evidence(spawned, run(*both()), pickled=problems))["pickling"].rule == "unpicklable-state"


def apart(*messages: Message, **more: frozenset[str]) -> tuple[str, ...]:
    return drawn_apart(Evidence(facts(), run(*messages), **more))


def four(line: str = "f (a.py:1)", name: str = "dataset.rng", start: str = "s") -> list[Message]:
    """Two workers and two epochs draw at a line, each from a state of its own."""
    uses = [
        (worker, epoch, StreamUse(name, f"{start}{worker}{epoch}", "", (Move((line,), ""),)))
        for worker in (0, 1)
        for epoch in (0, 1)
    ]
    return [
        sample(worker, epoch, worker, msgspec.structs.replace(each, after=f"{start}{worker}{epoch}-"))
        for worker, epoch, each in uses
    ]


def test_lines_where_all_drew_apart() -> None:
    assert apart(*four()) == ("a.py:1",)
    installed = "draw (/env/lib/python3.11/site-packages/augment/core.py:7)"
    assert apart(*four(installed)) == (), "what a library draws is nobody's line"
    assert apart(*four()[:2]) == (), "one worker"
    assert apart(*four()[::2]) == (), "one epoch"
    assert apart(*four(), *four("f (a.py:2)", start="t")) == ("a.py:1", "a.py:2")


def test_a_line_where_something_was_drawn_alike_is_not_among_them() -> None:
    alike = [sample(worker, 0, 9, use("x", "y", "y", name="dataset.other")) for worker in (0, 1)]
    assert apart(*four(), *alike) == (), "both are drawn from at a.py:1"
    elsewhere = four("f (a.py:2)", "dataset.third", "t")
    assert apart(*four(), *alike, *elsewhere) == ("a.py:2",)


def test_a_line_that_can_draw_from_what_is_not_watched_is_not_among_them() -> None:
    (unit,) = four()[0].units
    hidden = [
        msgspec.structs.replace(use, moves=tuple(msgspec.structs.replace(move, watched=False) for move in use.moves))
        for use in unit.streams
    ]
    assert apart(*four()[1:], Batch(0, 100, 0, (msgspec.structs.replace(unit, streams=tuple(hidden)),))) == ()


def test_a_run_that_did_not_end_well_tells_no_such_lines() -> None:
    failed = Outcome([*four(), Failed(Failure("ValueError", "", ""))], finished=True)
    assert drawn_apart(Evidence(facts(), failed)) == ()
    assert drawn_apart(Evidence(facts(), Outcome(four()))) == ()


def test_nothing_is_clean_where_no_batch_was_made() -> None:
    for outcome in (Outcome([], finished=False), Outcome([Failed(Failure("OSError", "", ""))], finished=True)):
        said = {one.check for one in results(Evidence(facts(), outcome, again=outcome)) if one.verdict is Verdict.CLEAN}
        assert said <= {"hanging", "crossed-the-fork", "pickling"}


def test_what_the_audit_itself_raises_is_no_fault_of_the_user() -> None:
    def told(file: str, kind: str = "AttributeError") -> Result:
        traceback = f'  File "/home/ann/train.py", line 3, in main\n  File "{file}", line 9, in f\n{kind}: odd\n'
        failed = Outcome([*four(), Failed(Failure(kind, f"{kind}: odd", traceback))], finished=True)
        return next(one for one in results(Evidence(facts(), failed)) if one.check == "samples")

    ours = str(Path(auditing.__file__))
    assert told("/home/ann/data.py").verdict is Verdict.FAULT
    assert told(ours).verdict is Verdict.NOT_SEEN
    assert told(ours).text == "audit failed because of a bug in loaderlint: AttributeError: odd"
    assert told(ours, "UnsendableBatch").verdict is Verdict.FAULT, "the batch is the user's"


def used(*memory: int, worker: int = 0) -> list[Message]:
    return [Batch(worker, 100 + worker, 0, (), Used(each << 10, 0, 3)) for each in memory]


#: Memory in MiB after each of the first batches, while the allocator settles.
SETTLING = (90, 99, 20, 30, 40, 50, 60, 70, 80, 90)
#: The same after each of those that follow, and whether that is more and more.
MEMORY = (
    ((20, 22, 24, 26, 28, 30, 32), Verdict.NOTE),
    ((20, 22, 24, 23, 28, 30, 32), Verdict.NOTE),
    ((20, 22, 24, 23, 28, 27, 32), Verdict.CLEAN),
    ((20, 32, 44, 56, 57, 58, 59), Verdict.CLEAN),
    ((20, 20, 20, 20, 20, 20, 90), Verdict.CLEAN),
    ((90, 90, 90, 90, 90, 90, 90), Verdict.CLEAN),
    ((20, 22, 24, 26, 28, 30), Verdict.NOT_SEEN),
)


def test_memory_grows_if_it_goes_up_with_each_batch_in_all_workers() -> None:
    def verdict(*messages: Message) -> Verdict:
        seen = Evidence(facts(), run(*messages))
        (one,) = [each for each in results(seen) if each.check == "memory-growth"]
        return one.verdict

    for memory, expected in MEMORY:
        assert verdict(*used(*SETTLING, *memory)) is expected, memory
    grows, stays = used(*SETTLING, *MEMORY[0][0]), used(*SETTLING, *[20] * 7, worker=1)
    assert verdict(*grows, *stays) is Verdict.CLEAN


#: The indices of two ranks, of 48 with batches of 2, and what is said of them.
SHARES = (
    (range(0, 48, 2), range(1, 48, 2), Verdict.CLEAN),
    (range(0, 46, 2), range(1, 46, 2), Verdict.CLEAN),
    ([*range(0, 48, 2), 1], [*range(1, 48, 2), 0], Verdict.CLEAN),
    (range(0, 40, 2), range(1, 40, 2), Verdict.CLEAN),
    (range(0, 36, 2), range(1, 36, 2), Verdict.CLEAN),
    (range(0, 48, 2), range(1, 40, 2), Verdict.NOTE),
    (range(0, 30, 2), range(1, 30, 2), Verdict.FAULT),
    (range(24), range(9, 33), Verdict.FAULT),
    (range(48), range(48), Verdict.NOT_SEEN),
    (range(48), range(24), Verdict.NOT_SEEN),
    (range(24), range(48, 72), Verdict.NOT_SEEN),
)


@pytest.mark.parametrize(("first", "second", "expected"), SHARES)
def test_ranks_share_the_items_up_to_what_fills_up_a_batch(
    first: Sequence[int], second: Sequence[int], expected: Verdict
) -> None:
    def taken(indices: Sequence[int]) -> Outcome:
        answer = Answer({"indices": tuple(map(str, indices))})
        return Outcome([answer, EpochEnded(0, len(indices) // 2, True)], finished=True)

    seen = Evidence(facts(), run(*both()), whole=taken(range(48)), ranks=[taken(first), taken(second)])
    (result,) = [each for each in results(seen) if each.check == "ranks"]
    assert result.verdict is expected, result.text
