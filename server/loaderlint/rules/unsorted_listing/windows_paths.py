"""Listings that only Windows makes, because a path is written with backslashes: `glob(self.root + r"\\images\\*.png")`.

'With NTFS and CDFS file systems, the names are usually returned in alphabetical order'
(https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-findnextfilea). Elsewhere, no file matches."""

from __future__ import annotations

import re

from loaderlint.facts import ir
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import LOOPED_SET, Listing

#: A backslash before or after a name. In the patterns of glob, it does not quote anything.
_SEPARATOR = re.compile(r"[\w.*?-]\\|\\[\w.*?-]")


def is_of_windows(listing: Listing, model: Model) -> bool:
    """Whether the call that lists a folder writes a part of its path with backslashes."""
    call = model.ev.expr(listing.frame, listing.expr)
    if not isinstance(call, ir.Call) or listing.how in ("set", LOOPED_SET):
        return False
    exprs = listing.frame.code.exprs
    parts = (exprs[one] for one in ir.made_of(exprs, (arg.value for arg in call.args)))
    return any(isinstance(e, ir.Const) and _is_written_for_windows(e.value) for e in parts)


def _is_written_for_windows(value: object) -> bool:
    return isinstance(value, str) and _SEPARATOR.search(value) is not None
