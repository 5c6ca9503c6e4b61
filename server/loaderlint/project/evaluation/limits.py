"""How much one question about a project may cost. Each limit belongs to one value, one def or one question, never to a
counter that questions share, so no answer depends on what was asked before. Beyond a limit, a value is `Unknown` with a
reason."""

from __future__ import annotations

#: The reason of an `Unknown` that stands for a value past its budget.
TOO_MANY = "too many values"

#: The nodes of a list, tuple, set or dict, counted as a walk through it meets them: what `x = [x, x]` doubles, 13 lines
#: exhaust. Nested settings of real projects have a few hundred.
MAX_VALUE_SIZE = 10_000
#: How deep lists and dicts may lie in each other. All that walks through them recurses.
MAX_VALUE_DEPTH = 32
#: The characters of the dotted name of something of a library. Each `x = x.strip()` adds some.
MAX_NAME_LENGTH = 1000
#: The members of library objects in each other: `a.b.c` of what a call gives.
MAX_MEMBERS = 32
#: The bindings of one module-level name that may hold at a place.
MAX_BINDINGS = 256
#: The frames of one def with arguments. With more, the arguments are forgotten.
MAX_CONTEXTS = 32
#: How deeply objects that are made by other objects are distinguished. Methods that make objects of each other's
#: classes would never end otherwise.
MAX_NESTING = 8
#: The frames of one def that run on objects which other objects make, or in functions which other functions make. With
#: more, they are one: of an object made out of sight. Sixteen classes that make each other would have 16! such frames.
MAX_NESTED_FRAMES = 32
