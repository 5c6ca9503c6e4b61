"""How paths end: `os.path.join(root, "train.npz")` names an archive of arrays, whatever `root` is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.paths import PATH, PATH_MAKERS
from loaderlint.project.evaluation.name_patterns import templates_of_value
from loaderlint.project.evaluation.values import Atom, LibObject, Literal_, Site, Val, of

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Calls that give a path, or paths, which end as their last argument does.
_END_AS_LAST_ARGUMENT = PATH_MAKERS | frozenset(
    """
    os.path.join os.path.abspath os.path.realpath os.path.expanduser os.fspath builtins.str
    glob.glob glob.iglob glob.glob[] glob.iglob[]
    pathlib.Path.glob pathlib.Path.rglob pathlib.Path.glob[] pathlib.Path.rglob[]
    """.split()
)
#: The number of paths, each made from the next, that are followed.
_MAX_DEPTH = 6


def ends_with(ev: Evaluator, path: Val, suffix: str) -> bool:
    """Whether a path certainly ends with a suffix, in lower case: `.npz`."""
    return _ends(ev, path, suffix, _MAX_DEPTH)


def _ends(ev: Evaluator, path: Val, suffix: str, depth: int) -> bool:
    return depth > 0 and bool(path.atoms) and all(_atom_ends(ev, atom, suffix, depth) for atom in path.atoms)


def _atom_ends(ev: Evaluator, atom: Atom, suffix: str, depth: int) -> bool:
    match atom:
        case Literal_(_, str(text)):
            return text.lower().endswith(suffix)
        case LibObject(name, site):
            last = _last_part(ev, name, site)
            if last is not None:
                return _ends(ev, last, suffix, depth - 1)
            return all(template[-1].lower().endswith(suffix) for template in templates_of_value(ev, of(atom)))
    return False


def _last_part(ev: Evaluator, name: str, site: Site) -> Val | None:
    """The last part that a path is made of; None if that is not known."""
    e = ev.expr(site.frame, site.expr)
    if isinstance(e, ir.Bin) and name == PATH:
        return ev.eval(e.right, site.frame)
    if isinstance(e, ir.Element):
        return ev.eval(e.iterable, site.frame)
    if isinstance(e, ir.Call) and name in _END_AS_LAST_ARGUMENT:
        return next(reversed(ev.calls.site_arguments(site).positional), None)
    return None
