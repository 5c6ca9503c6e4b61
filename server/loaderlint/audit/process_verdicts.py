"""Checks the workers' processes: exceptions, endless waiting, open files, and what is sent to them."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.audit.evidence import Done, Evidence, changed, failures, units
from loaderlint.audit.failures import rule_of_failure
from loaderlint.audit.open_files import shown
from loaderlint.audit.report import Result, Verdict, clean, not_seen
from loaderlint.audit.sandbox import Stuck
from loaderlint.audit.user_places import is_ours, of_traceback

#: The maximum number of places of one kind that are shown.
_SHOWN = 3


def hanging(evidence: Evidence) -> Iterator[Result]:
    """Whether a worker waits for ever."""
    check = "hanging"
    run = evidence.run
    if run.finished:
        yield clean(check, "every worker finished")
        return
    waiting = [each for each in run.stuck if each.waiting and each.worker >= 0]
    if not waiting:
        yield not_seen(check, f"the time limit of {run.seconds:.0f} s was reached; raise it with timeout")
        return
    lines = [line for each in waiting[:2] for line in _stuck(each)]
    rule = _rule_of_hang(waiting[0])
    places = tuple(of_traceback(waiting[0].stack)[:1])  # the innermost comes first
    yield Result(check, Verdict.FAULT, "a worker waits for ever in your code", tuple(lines), rule, places)


def _stuck(stuck: Stuck) -> list[str]:
    lines = [f"worker {stuck.worker} (pid {stuck.pid}) has waited at {stuck.index} for {stuck.seconds:.0f} s"]
    return lines + [f"  {line.strip()}" for line in stuck.stack.splitlines() if "File" in line][:6]


def _rule_of_hang(stuck: Stuck) -> str | None:
    threads = ("concurrent/futures", "multiprocessing/pool", "queue.py", "threading.py")
    return "executor-across-fork" if any(each in stuck.stack for each in threads) else None


def samples(evidence: Evidence) -> Iterator[Result]:
    """The exceptions that samples raise, and samples that cannot be collated."""
    check = "samples"
    broken = failures(evidence.run)
    if not broken:
        if evidence.run.died:
            yield Result(check, Verdict.FAULT, f"the run was {evidence.run.died}")
        elif evidence.run.finished:
            yield clean(check, f"{len(units(evidence.run))} samples and batches were created without an exception")
        return
    done, failure = broken[0]
    odd = _odd_samples(evidence, done)
    rule = rule_of_failure(failure, done.unit if done is not None else None, odd=bool(odd))
    where = done.where if done is not None else "the main process"
    said = failure.text.strip().splitlines()
    text = f"{failure.kind} in the user's code, {where}: {said[-1] if said else ''}"
    lines = (*odd, *failure.traceback.strip().splitlines())
    if failure.kind != "UnsendableBatch" and is_ours(failure.traceback):
        yield Result(check, Verdict.NOT_SEEN, f"audit failed because of a bug in loaderlint: {said[-1]}", lines)
        return
    yield Result(check, Verdict.FAULT, text, lines, rule, tuple(of_traceback(failure.traceback)[-1:]))


def _odd_samples(evidence: Evidence, failed: Done | None) -> tuple[str, ...]:
    """The samples of the failed batch that contain None."""
    if failed is None or failed.unit.kind != "collate":
        return ()
    mine = [
        each
        for each in units(evidence.run)
        if each.pid == failed.pid and each.epoch == failed.epoch and each.unit.number < failed.unit.number
    ]
    found: list[str] = []
    for each in reversed(mine):
        if each.unit.kind == "collate":
            break
        found += [f"sample {each.unit.index} is {remark}" for remark in each.unit.remarks]
    return tuple(reversed(found))


def open_files(evidence: Evidence) -> Iterator[Result]:
    """Whether workers read through files that were opened before they started."""
    check = "open-files"
    rule = "handle-across-workers"
    if not evidence.facts.workers:
        return
    if evidence.moved:
        text = "workers read through a file that the main process opened, and move the position that they share"
        places = [each for each in units(evidence.run) if each.unit.offsets][:_SHOWN]
        lines = tuple(f"{each.where}: moved in {', '.join(map(shown, each.unit.offsets))}" for each in places)
        yield Result(check, Verdict.FAULT, text, lines, rule)
        return
    if evidence.poisoned is not None and not failures(evidence.run):
        broken = failures(evidence.poisoned)
        if broken:
            done, failure = broken[0]
            where = done.where if done is not None else "the main process"
            without = ", ".join(map(shown, evidence.inherited[:_SHOWN]))
            lines = (f"without {without}: {where}: {failure.kind}: {failure.text[:200]}",)
            text = "workers read through a file that the main process opened, at positions of their own"
            yield Result(check, Verdict.NOTE, text, lines, rule)
            return
    if evidence.run.finished:
        yield clean(check, "no worker read from a file that was open before it started")


def crossing(evidence: Evidence) -> Iterator[Result]:
    """Objects of the main process in the dataset that a forked worker cannot use, or only in turn with others."""
    check = "crossed-the-fork"
    found = evidence.crossed
    if evidence.run.finished:  # then the workers have reported what they still have
        kept = {change.path for each in changed(evidence.run) for change in each.changes if change.kind == "crossed"}
        found = tuple(each for each in found if each.path in kept)
    if found:
        text = f"the workers have {', '.join(each.path for each in found[:_SHOWN])} from the main process"
        lines = tuple(f"{each.path}: {each.what}" for each in found)
        yield Result(check, Verdict.NOTE, text, lines, found[0].rule)
    elif evidence.facts.method == "fork":
        yield clean(check, "no thread, held lock or known handle can be reached from the dataset")


def sending(evidence: Evidence) -> Iterator[Result]:
    """Whether everything that a spawned worker needs can be sent to it, and what that costs."""
    check = "pickling"
    seen, facts = evidence.pickled, evidence.facts
    if not seen:
        yield not_seen(check, "pickling did not finish in time")
        return
    problems = [problem.partition("\n")[::2] for problem in seen["problems"]]
    if problems:
        needed = facts.workers > 0 and facts.method != "fork"
        when = f"the workers ({facts.method}) cannot start" if needed else "workers cannot start by spawn or forkserver"
        rule = "unpicklable-callable" if "<lambda>" in problems[0][1] or "local object" in problems[0][1] else None
        yield Result(
            check,
            Verdict.FAULT if needed else Verdict.NOTE,
            f"{when}: {', '.join(path for path, _ in problems)} cannot be pickled",
            tuple(f"{path}: {why}" for path, why in problems),
            rule or "unpicklable-state",
        )
        return
    copied, shared = int(seen["copied"][0]), int(seen["shared"][0])
    size = f"{_bytes(copied)} are copied to each worker"
    if shared:
        size += f", {_bytes(shared)} of tensors are shared"
    yield clean(check, f"everything can be pickled; under spawn and forkserver {size}")


def _bytes(count: int) -> str:
    value = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
