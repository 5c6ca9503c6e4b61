"""The seed that the user gives a generator object, as source for the place where the generator is created again."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import GENERATOR_SEEDS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibMember, LibObject, Literal_
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.generator_creation import is_field, library_of
from loaderlint.rules.shared.seed_sources import is_same_in_each_run

#: Methods that take a seed; the others of `GENERATOR_SEEDS` take a whole state.
_TAKE_SEED = frozenset({"seed", "manual_seed"})


def seed_of(made: LibObject, model: Model) -> str | None:
    """The seed as source: '' for none, digits for a constant, the name of a parameter or of a module's constant; None
    for anything else."""
    frame = made.site.frame
    making = model.ev.expr(frame, made.site.expr)
    seeding = [*_seedings(made, model)]
    if not isinstance(making, ir.Call) or len(seeding) > 1:
        return None
    if is_field(made.site, model):
        return ""  # a dataclass calls the factory without arguments
    if library_of(made) == "torch" and not is_of_cpu(made, model):
        return None
    if seeding:
        name, call = seeding[0]
        return _first_argument(call, frame, model) if name in _TAKE_SEED else None
    return "" if made.name == "torch.Generator" else _first_argument(making, frame, model)


def seed_expression(made: LibObject, model: Model) -> int | None:
    """The expression of the seed, in the frame that creates the generator; None if it gets none, or several."""
    making = model.ev.expr(made.site.frame, made.site.expr)
    seeding = [call for name, call in _seedings(made, model) if name in _TAKE_SEED]
    if made.name != "torch.Generator" and isinstance(making, ir.Call):
        seeding.append(making)
    seeds = [call.args[0].value for call in seeding if call.args and call.args[0].kind in ("pos", "kw")]
    return seeds[0] if len(seeds) == 1 else None


def has_fixed_seed(made: LibObject, model: Model) -> bool:
    """Whether a seed that the generator gets where it is made may be the same in each run, as a setting called `seed`
    is that comes from elsewhere."""
    number, frame = seed_expression(made, model), made.site.frame
    if number is None:
        return False
    return is_same_in_each_run(number, frame, model) or _is_setting(number, frame, model)


def _is_setting(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is an attribute called `seed` or the like whose value is not known."""
    e = model.ev.expr(frame, number)
    return isinstance(e, ir.Attr) and "seed" in e.name and model.ev.eval(number, frame).literal is None


def _seedings(made: LibObject, model: Model) -> Iterator[tuple[str, ir.Call]]:
    """The calls that seed the generator in the def that creates it: `self.generator.manual_seed(5)` on the next
    line."""
    frame = made.site.frame
    for _, step in model.steps(frame):
        call = model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        if not isinstance(call, ir.Call):
            continue
        for atom in model.ev.eval(call.func, frame).only(LibMember):
            if atom.owner == made and atom.name in GENERATOR_SEEDS:
                yield atom.name, call


def is_of_cpu(made: LibObject, model: Model) -> bool:
    """Whether a torch.Generator is one of the CPU: `torch.Generator()`, `torch.Generator("cpu").manual_seed(0)`."""
    frame = made.site.frame
    making = model.ev.expr(frame, made.site.expr)
    if not isinstance(making, ir.Call):
        return False
    if made.name != "torch.Generator":
        seeder = model.ev.expr(frame, making.func)
        inner = model.ev.expr(frame, seeder.base) if isinstance(seeder, ir.Attr) else None
        if not isinstance(inner, ir.Call):
            return False
        making = inner
    devices = [model.ev.eval(arg.value, frame).literal for arg in making.args]
    return all(device is not None and device.value == "cpu" for device in devices)


def _first_argument(call: ir.Call, frame: Frame, model: Model) -> str | None:
    if not call.args:
        return ""
    if len(call.args) > 1 or call.args[0].kind not in ("pos", "kw"):
        return None
    e = model.ev.expr(frame, call.args[0].value)
    value = model.ev.eval(call.args[0].value, frame)
    match e:
        case ir.Const("NoneType", _):
            return ""
        case ir.Const("int", int(number)) if number >= 0:
            return str(number)
        case ir.Param(index) if not value.only(LibObject):
            return model.def_of(frame).params[index].name
        case ir.Global(name) if all(isinstance(a, Literal_) and a.kind == "int" for a in value.atoms):
            return name
    return None
