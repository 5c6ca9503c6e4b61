"""A digest of the meaning of a piece."""

from __future__ import annotations

import hashlib
import marshal
from typing import Any

from loaderlint.facts.ir import Call, PieceIR


def digest(ir: PieceIR) -> str:
    """32 hexadecimal digits that are equal for equal facts, in every process and Python version."""
    # Plain tuples with the class's name in front, because tuples of different classes compare equal. `marshal`, unlike
    # `repr`, is fast on these; its version 0 writes only values, without references and shared strings.
    exprs: list[Any] = []
    for expr in ir.exprs:
        if expr.__class__ is Call:
            exprs.append(("Call", expr[0], [tuple(arg) for arg in expr[1]]))
        else:
            exprs.append((expr.__class__.__name__, *expr))
    defs: list[Any] = []
    for definition in ir.defs:
        fields: list[Any] = list(definition)
        fields[3] = [tuple(param) for param in definition.params]
        fields[7] = [tuple(context) for context in definition.contexts]
        fields[8] = [(step.__class__.__name__, *step) for step in definition.steps]
        defs.append(fields)
    return hashlib.blake2b(marshal.dumps((exprs, defs, ir.mentions), 0), digest_size=16).hexdigest()
