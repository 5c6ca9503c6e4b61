"""The fix: a generator of its own in each worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from loaderlint.findings.finding import Fix
from loaderlint.project.evaluation.values import ClassRef, DefKey, Instance, LibObject, def_key
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.evaluation_loaders import evaluation_loaders
from loaderlint.rules.shared.generator_accessor import Draw, accessor_fix
from loaderlint.rules.shared.generator_seeds import has_fixed_seed
from loaderlint.rules.shared.run_seeds import set_by_torchs_seed
from loaderlint.rules.shared.unresolved_places import SiteKey, site_key
from loaderlint.rules.shared_generator.generator_draws import draws_of, is_common_order, why_good
from loaderlint.rules.shared_generator.named_generators import named_generator_fix
from loaderlint.rules.shared_generator.paired_generators import paired_generators
from loaderlint.rules.shared_generator.seed_mixing import seeds_with_more

#: The version of torch that brought `get_worker_info`. Source: pytorch/pytorch#19228.
_WORKER_INFO = "1.2"


def own_generator_fix(draw: Draw, model: Model) -> Fix | None:
    """The fix for the generator that is drawn from, and for all that are made beside it: fixing half of them would look
    like all. Unsafe if the numbers that are the same may be meant, if it is half of them all the same, or if the
    project admits a torch without `get_worker_info`."""
    fix = _of_all(draw, model)
    if fix is None:
        return None
    is_doubtful = any(_may_be_meant(one, model) for one in _beside(draw, model)) or _is_half(draw, model)
    return replace(fix, safety="unsafe") if is_doubtful or _may_lack_worker_info(draw, model) else fix


def _may_lack_worker_info(draw: Draw, model: Model) -> bool:
    return model.environment_at(draw.call.frame.path).torch.before(_WORKER_INFO) in ("yes", "maybe")


def _is_half(draw: Draw, model: Model) -> bool:
    """Whether a generator without a fix is kept by an object that the same function makes: its numbers would still be
    the same in all workers, only mixed with others."""
    maker = def_key(draw.made.site.frame)
    groups = (draws for by_site in _generators(model).values() for draws in by_site.values())
    kept = (one for draws in groups for one in draws if _maker_of_owner(one) == maker)
    return any(_of_all(one, model) is None and not why_good(one, model) for one in kept)


def _maker_of_owner(draw: Draw) -> DefKey | None:
    """The function that makes the object whose constructor makes the generator."""
    owner = draw.made.site.frame.receiver
    return def_key(owner.site.frame) if isinstance(owner, Instance) and owner.site is not None else None


def _may_be_meant(draw: Draw, model: Model) -> bool:
    """Whether the workers of an evaluation loader draw too, perhaps the same numbers each time, or another generator
    with the same seed draws alike."""
    return bool(evaluation_loaders(def_key(draw.call.frame), model)) or draw.made in model.once(_paired)


def _paired(model: Model) -> frozenset[LibObject]:
    found = _generators(model).values()
    return paired_generators((one for sites in found for draws in sites.values() for one in draws), model)


def _beside(draw: Draw, model: Model) -> Iterable[Draw]:
    """All draws from the generators that the same function makes."""
    return (one for draws in _generators(model)[def_key(draw.made.site.frame)].values() for one in draws)


def _of_all(draw: Draw, model: Model) -> Fix | None:
    site = draw.made.site
    own = _generators(model)[def_key(site.frame)][site_key(site)]
    if any(is_common_order(one, model) for one in own):
        return None  # it has to stay the same in all workers
    if not any(isinstance(origin.owner, Instance | ClassRef) for one in own for origin in one.origins):
        return _telling(named_generator_fix(own, model), [own], model) if own else None
    if site.frame.def_ == 0:
        return _telling(accessor_fix([own], model), [own], model)
    beside = _generators(model)[def_key(site.frame)].values()
    faulty = [draws for draws in beside if draws is own or not any(why_good(one, model) for one in draws)]
    return _telling(accessor_fix(faulty, model), faulty, model)


def _telling(fix: Fix | None, generators: Sequence[Sequence[Draw]], model: Model) -> Fix | None:
    """The fix, with a title that says what fixes the numbers of a run after it, where the seed of a generator did so
    before."""
    if fix is None or not any(
        has_fixed_seed(made, model) for made in {one.made for some in generators for one in some}
    ):
        return fix
    told = set_by_torchs_seed(model, "their" if len(generators) > 1 else "its")
    return replace(fix, title=f"{fix.title}{told}")


def _generators(model: Model) -> Mapping[DefKey, Mapping[SiteKey, list[Draw]]]:
    """Every draw in worker code, by the function that makes the generator and by the place where it does."""
    return model.once(_drawn_from)


def _drawn_from(model: Model) -> Mapping[DefKey, Mapping[SiteKey, list[Draw]]]:
    found: dict[DefKey, dict[SiteKey, list[Draw]]] = {}
    for frame in model.reached:
        for call in model.frame_calls(frame):
            for draw in draws_of(call, model):
                site = draw.made.site
                if not seeds_with_more(call, model):
                    found.setdefault(def_key(site.frame), {}).setdefault(site_key(site), []).append(draw)
    return found
