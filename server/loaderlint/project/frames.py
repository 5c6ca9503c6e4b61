"""A frame: one def in one context (receiver and arguments). Frames are interned by the evaluator, compared by
identity."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from loaderlint.facts.ir import PieceFacts
from loaderlint.project.values import Atom, ClassRef, Val


@dataclass(slots=True, eq=False, repr=False)
class Frame:
    """Def `def_` of piece `piece` in `path`, run with `receiver` bound to its first parameter (None for functions and
    bodies) and `args` for the others (None: not passed). `scope` is the frame of the lexically enclosing def, `owner`
    the class a method was found in, `depth` how many calls deep, `order` a stable sort key.

    `facts` are those of its piece. `memo` holds what each expression evaluated to, `targets` the frames a call or
    property read leads to, `guesses` the calls whose callee is one of several by a name made up at run time."""

    path: Path
    piece: int
    def_: int
    receiver: Atom | None
    args: tuple[Val | None, ...]
    scope: Frame | None
    owner: ClassRef | None
    depth: int
    order: str
    facts: PieceFacts | None = None
    memo: dict[int, Val | None] = field(default_factory=dict)
    targets: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    dead: dict[int, bool] = field(default_factory=dict)
    guesses: set[int] = field(default_factory=set)

    def __repr__(self) -> str:
        """Short: frames hold values that hold frames."""
        return f"Frame({self.order})"
