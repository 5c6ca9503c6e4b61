"""DistributedSamplers that a program also uses in a single process, where it does not call `set_epoch`: the scripts of
MAE make the sampler in any case, and call `set_epoch` only `if args.distributed`."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject, Literal_, Site, def_key
from loaderlint.project.reach.model import Model

_SAYS = "distributed"
#: Without these, the sampler asks the process group for them, and there is none.
_GIVEN = (("num_replicas", 1), ("rank", 2))


def unset_without(calls: Sequence[Site], sampler: LibObject, model: Model) -> str:
    """The name of the setting without which none of the calls of `set_epoch` is made, while the sampler is made in any
    case, `distributed`; '' if there is none."""
    made = sampler.site
    names = {_setting_around(call, model) for call in calls}
    if len(names) != 1 or any(def_key(call.frame) != def_key(made.frame) for call in calls):
        return ""
    return names.pop() if not _setting_around(made, model) and _works_alone(sampler, model) else ""


def _setting_around(site: Site, model: Model) -> str:
    """The setting for distributed training that a branch around a call needs, if it may be off; '' if there is none."""
    frame = site.frame
    for here in model.def_of(frame).around(frame.code.context_of(site.expr)):
        name = called_name(frame.code.exprs, here.expr) if here.kind == "if" and not here.negated else ""
        if _SAYS in name.lower() and _may_be_off(here.expr, frame, model):
            return name
    return ""


def _may_be_off(test: int, frame: Frame, model: Model) -> bool:
    return any(isinstance(atom, Literal_) and not atom.value for atom in model.ev.eval(test, frame).atoms)


def _works_alone(sampler: LibObject, model: Model) -> bool:
    """Whether the sampler is told the number of processes and its own, so that it needs no process group."""
    arguments = model.ev.calls.site_arguments(sampler.site)
    return all(arguments.get(name, position) is not None for name, position in _GIVEN)
