"""DistributedSamplers that a program also uses in a single process, where it does not call `set_epoch`: the scripts of
MAE make the sampler in any case, and call `set_epoch` only `if args.distributed`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    names = {name for call in calls for name in (*_settings_around(call, model), "")[:1]}
    if len(names) != 1 or "" in names or any(def_key(call.frame) != def_key(made.frame) for call in calls):
        return ""
    if any(True for _ in _settings_around(made, model)) or not _works_alone(sampler, model):
        return ""
    return names.pop()


def _settings_around(site: Site, model: Model) -> Iterator[str]:
    """The settings for distributed training that the branches around a call need, as far as they may be off."""
    frame = site.frame
    around = model.def_of(frame).around(frame.code.context_of(site.expr))
    for here in around:
        name = called_name(frame.code.exprs, here.expr) if here.kind == "if" and not here.negated else ""
        if _SAYS in name.lower() and _may_be_off(here.expr, frame, model):
            yield name


def _may_be_off(test: int, frame: Frame, model: Model) -> bool:
    return any(isinstance(atom, Literal_) and not atom.value for atom in model.ev.eval(test, frame).atoms)


def _works_alone(sampler: LibObject, model: Model) -> bool:
    """Whether the sampler is told the number of processes and its own, so that it needs no process group."""
    arguments = model.ev.calls.site_arguments(sampler.site)
    return all(arguments.get(name, position) is not None for name, position in _GIVEN)
