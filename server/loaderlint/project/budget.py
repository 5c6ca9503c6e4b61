"""How much one question about a project may cost. Each limit belongs to one value, one def or one question, never to a
counter that questions share, so an answer does not rest on what was asked before it. What goes past a limit is
`Unknown` with a reason."""

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
#: Objects are told apart by where they are made, and contexts by the objects in them, this deep: an object made by a
#: method of an object that a module makes has height 2. A part of a project in which some def has more than
#: `MAX_CONTEXTS` contexts is linked with the next height, and that is said.
MAX_HEIGHTS = (2, 1)
#: The contexts of one def that are told apart. Real projects have some hundred.
MAX_CONTEXTS = 4_000
#: The callers of one def, or the objects of one class, that are told apart where one looks for them backwards. More are
#: joined: their arguments may be whatever some caller passes.
MAX_CALLERS = 32
