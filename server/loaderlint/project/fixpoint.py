"""Answers that may depend on themselves: `x = step(x)` in a loop, functions that call each other, an attribute that a
method computes from itself.

Such answers are a fixed point: the question that leads back to itself is asked again with its last answer until that
no longer changes. All questions on the way have that same fixed point, so it does not matter which of them is asked
first, and nothing that was computed from an unfinished answer is remembered. This is the way of tabled logic programs
(SLG resolution) and of Salsa's fixed-point cycles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer")

#: So many questions may wait for each other. Each takes up to 25 frames of Python (see `loaderlint.stack.FRAMES`).
MAX_NESTED = 400
#: A cycle whose answers still change after so many rounds has no fixed point: all its questions get their `default`.
MAX_ROUNDS = 12
_NEVER = sys.maxsize
#: The memo in which an answer is remembered, by its identity, and the key in it.
_Name = tuple[int, Hashable]


class Notes(Protocol):
    """What computations note beside their answers, by the keys of their questions."""

    def noted(self, key: Any) -> object:
        """What is noted for a question; compared with what was noted in the round before."""
        ...

    def retract(self, key: Any) -> None:
        """The question is answered again: what is noted for it is of the round before."""
        ...


@dataclass(slots=True, eq=False)
class _Question:
    """A question that is being answered, or whose answer depends on one that is. `answer` is what it answers whoever
    asks it meanwhile, `used` whether somebody did; `depth` how many questions wait for it; `lowest` the least depth of
    a question that its answer depends on. `default` is the answer where there is none."""

    memo: MutableMapping[Any, Any]
    key: Hashable
    answer: Any
    bottom: Any
    default: Any
    notes: Notes | None
    depth: int
    noted: object = None
    lowest: int = _NEVER
    used: bool = False


class _AskFirst(BaseException):
    """Too many questions wait for this one: the outermost question ends, asks this one, and begins again.

    Not an `Exception`: nobody on the way may take it for an error of theirs."""

    def __init__(self, ask: Callable[[], Any], name: _Name, give_up: Callable[[], object]) -> None:
        super().__init__()
        self.ask = ask
        self.name = name
        self.give_up = give_up


class Fixpoint:
    """The questions of one snapshot that are being answered."""

    def __init__(self) -> None:
        self._running: dict[_Name, _Question] = {}
        #: The least depth of a question that is running and was asked again since the innermost one began.
        self._lowest = _NEVER
        #: Questions that were answered, with answers that depend on running ones; and their names, in that order.
        self._tentative: dict[_Name, _Question] = {}
        self._order: list[_Name] = []
        #: The questions of the outermost cycle with their last answers.
        self._last: dict[_Name, _Question] = {}
        #: Whether some answer was used in this round that turned out to be another one.
        self._changed = False
        self._waiting: set[_Name] = set()

    def ask(
        self,
        memo: MutableMapping[_Key, _Answer],
        key: _Key,
        bottom: _Answer,
        default: _Answer,
        compute: Callable[..., _Answer],
        *arguments: Any,
        notes: Notes | None = None,
    ) -> _Answer:
        """What `compute(*arguments)` gives, remembered in `memo` under `key` once it is final. `bottom` is the answer
        that the question has for itself at first, `default` the one it gets where there is no fixed point (and where
        the fixed point is `bottom`). `notes`: where the computation notes more than its answer."""
        known = memo.get(key)
        if known is not None:
            return known
        name = (id(memo), key)
        question = self._running.get(name)
        if question is not None:
            question.used = True
            self._lowest = min(self._lowest, question.depth)
            return cast("_Answer", question.answer)
        question = self._tentative.get(name)
        if question is not None:
            self._lowest = min(self._lowest, question.lowest)
            return cast("_Answer", question.answer)
        depth = len(self._running)
        question = _Question(memo, key, bottom, bottom, default, notes, depth)
        last = self._last.get(name)
        if last is not None:
            question.answer, question.noted = last.answer, last.noted
        if depth == 0:
            return cast("_Answer", self._outermost(name, question, compute, arguments))
        if depth >= MAX_NESTED:
            raise _AskFirst(
                lambda: self.ask(memo, key, bottom, default, compute, *arguments, notes=notes),
                name,
                lambda: memo.setdefault(key, default),
            )
        return cast("_Answer", self._answer(name, question, compute, arguments))

    def _outermost(
        self, name: _Name, question: _Question, compute: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """The answer to a question that no other one waits for. However long the chains are that lead from it, the
        stack stays small: what lies too deep is asked first, and remembered."""
        self._waiting.add(name)
        try:
            while True:
                try:
                    return self._answer(name, question, compute, arguments)
                except _AskFirst as first:
                    if first.name in self._waiting:  # a cycle of more questions than may wait
                        first.give_up()
                    else:
                        first.ask()
        finally:
            self._waiting.discard(name)

    def _answer(self, name: _Name, question: _Question, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        depth, mark = question.depth, len(self._order)
        outer, self._lowest = self._lowest, _NEVER
        outside, self._changed = self._changed, False
        self._running[name] = question
        try:
            answer = compute(*arguments)
            if self._lowest > depth:
                question.memo[question.key] = answer
            else:
                answer, changed = self._settle(name, question, answer, mark, compute, arguments)
                outside = outside or changed
        except BaseException:
            self._forget(mark)
            self._lowest = _NEVER
            raise
        finally:
            del self._running[name]
            self._changed = outside
            if depth == 0:
                self._last.clear()
            self._lowest = min(outer, self._lowest) if self._lowest < depth else outer
        return answer

    def _settle(
        self,
        name: _Name,
        question: _Question,
        answer: Any,
        mark: int,
        compute: Callable[..., Any],
        arguments: tuple[Any, ...],
    ) -> tuple[Any, bool]:
        """The answer to a question that leads back to itself, or to one that waits for it; and whether an answer that
        was used in the round of the latter has changed."""
        for _ in range(MAX_ROUNDS):
            noted = question.notes.noted(question.key) if question.notes is not None else None
            changed = self._changed or (question.used and (answer != question.answer or noted != question.noted))
            if self._lowest < question.depth:
                question.answer, question.noted = answer, noted
                self._last[name] = question
                question.lowest = self._lowest
                self._tentative[name] = question
                self._order.append(name)
                return answer, changed
            if not changed:
                return self._finish(question, answer, mark), False
            question.answer, question.noted, question.used = answer, noted, False
            self._forget(mark)
            self._retract(question)
            self._changed, self._lowest = False, _NEVER
            answer = compute(*arguments)
        return self._give_up(question, mark), False

    def _finish(self, question: _Question, answer: Any, mark: int) -> Any:
        """All that depended on the question is answered with it."""
        question.answer = answer
        for one in (*self._taken(mark), question):
            one.memo[one.key] = one.default if one.answer == one.bottom else one.answer
        return question.memo[question.key]

    def _give_up(self, question: _Question, mark: int) -> Any:
        """There is no fixed point: nobody in the cycle has an answer."""
        for one in (*self._taken(mark), question):
            self._retract(one)
            one.memo[one.key] = one.default
        return question.default

    def _forget(self, mark: int) -> None:
        """The answers since then are worth nothing."""
        for one in self._taken(mark):
            self._retract(one)

    def _taken(self, mark: int) -> list[_Question]:
        """The tentative answers since then, which are none any more."""
        names = self._order[mark:]
        del self._order[mark:]
        return [self._tentative.pop(name) for name in names]

    def _retract(self, question: _Question) -> None:
        if question.notes is not None:
            question.notes.retract(question.key)
