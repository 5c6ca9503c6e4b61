"""What gives the workers of a loader generators that differ."""

from __future__ import annotations

from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.generator_accessor import Draw
from loaderlint.rules.shared.generator_creation import birth_place, is_seeded
from loaderlint.rules.shared.judgement import Cure
from loaderlint.rules.shared.loader_traits import one_stream
from loaderlint.rules.shared.silence_reasons import started_by
from loaderlint.rules.shared.worker_seeding import init_in_sight
from loaderlint.rules.shared_generator.reseeded_generators import reseeded_at_start, reseeded_by_monai


def cures(draw: Draw, model: Model) -> Cure:
    """Why the workers of a loader do not draw the same numbers; '' if they do."""
    copied = birth_place(draw.made.site, model) == "an object" or is_seeded(draw.made, model)

    def cure(loader: Loader) -> str:
        if alone := one_stream(loader, model):
            return alone
        if reseeded_by_monai(draw, loader, model):
            return "MONAI's worker_init_fn gives what has `set_random_state` a new state in each worker"
        if not init_in_sight(loader):
            return "what its worker_init_fn does is not known"
        if not copied and "fork" not in model.start_methods.of(loader):
            return f"{started_by(loader, model)}, and each makes the generator anew, from other bits"
        if reseeded_at_start(loader, draw.origins, model):
            return "its worker_init_fn gives the dataset's generator a new state"
        return ""

    return cure
