"""Listings that only Windows makes, because a path has backslashes or a drive: `glob(self.root + r"\\images\\*.png")`,
`os.listdir("C:/data")`.

'With NTFS and CDFS file systems, the names are usually returned in alphabetical order'
(https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-findnextfilea). Elsewhere, no file matches."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loaderlint.facts import ir
from loaderlint.project.evaluation.name_patterns import templates_of
from loaderlint.project.evaluation.values import Atom, LibObject, Literal_, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import LOOPED_SET, Listing

#: A backslash before or after a name. In the patterns of glob, it does not quote anything.
_SEPARATOR = re.compile(r"[\w.*?-]\\|\\[\w.*?-]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
#: Functions that make a path of others, of which the first has the drive, and how many are followed.
_JOINS = frozenset({"os.path.join", "os.path.abspath", "os.path.normpath", "pathlib.Path", "pathlib.Path.joinpath"})
_MAX_JOINS = 4


def is_of_windows(listing: Listing, model: Model) -> bool:
    """Whether the call that lists a folder gets a path of Windows, as far as the code writes it. Users may choose
    another path than the default of an option."""
    call = model.ev.expr(listing.frame, listing.expr)
    if not isinstance(call, ir.Call) or listing.how in ("set", LOOPED_SET):
        return False
    frame = listing.frame
    for part in ir.made_of(frame.code.exprs, _paths(call, frame.code.exprs)):
        built = templates_of(model.ev, part, frame)
        if built and all(map(_is_path_of_windows, built)):
            return True
        if _has_drive(model.ev.eval(part, frame), model, _MAX_JOINS):
            return True
    return False


def _has_drive(value: Val, model: Model, depth: int) -> bool:
    """Whether a path begins with a drive, itself or in what it is joined from."""
    return bool(value.atoms) and all(_begins_with_drive(atom, model, depth) for atom in value.atoms)


def _begins_with_drive(atom: Atom, model: Model, depth: int) -> bool:
    match atom:
        case Literal_(_, str(text)) if not atom.configured:
            return _DRIVE.match(text) is not None
        case LibObject(name, site) if name in _JOINS and depth > 0:
            parts = model.ev.calls.site_arguments(site).positional
            return bool(parts) and _has_drive(parts[0], model, depth - 1)
    return False


def _paths(call: ir.Call, exprs: Sequence[ir.Expr]) -> list[int]:
    """What a call that lists a folder gets, and the path of `path.iterdir()`."""
    func = exprs[call.func]
    return [arg.value for arg in call.args] + ([func.base] if isinstance(func, ir.Attr) else [])


def _is_path_of_windows(template: Sequence[str]) -> bool:
    return _DRIVE.match(template[0]) is not None or any(_SEPARATOR.search(text) for text in template)
