"""The arguments of loaders that a program reads from configuration files: `num_workers=config["workers"]`, and
`**config["loader"]`."""

from __future__ import annotations

from loaderlint.knowledge.wrappers import TORCH_PARAMETERS
from loaderlint.project.evaluation.argument_binding import FROM_FILE, Arguments
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import LibMember, LibObject, Val, join, member_of, unknown

#: The parameters that are numbers or truth values.
_PLAIN = frozenset(
    "batch_size shuffle num_workers pin_memory drop_last timeout prefetch_factor persistent_workers".split()
)
#: The parameters that are objects or functions, of which a file holds none.
_OBJECTS = frozenset("dataset sampler batch_sampler collate_fn worker_init_fn generator".split())


def with_file_values(ev: Evaluator, arguments: dict[str, Val]) -> dict[str, Val]:
    """Arguments under torch's names, with the values that configuration files have for them."""
    found = dict(arguments)
    for name, value in arguments.items():
        if name in _PLAIN and value.has(LibObject, LibMember):
            look_up = ev.file_values.number if name == "num_workers" else ev.file_values.agreed
            found[name] = ev.file_values.resolved(value, look_up)
    return found


def passed_by_file(ev: Evaluator, arguments: Arguments) -> dict[str, Val]:
    """torch's parameters that a call may pass by the mappings of files that it unpacks, and by nothing else: what is in
    no file keeps its default. All parameters if it unpacks anything else."""
    if arguments.source != FROM_FILE:
        return dict.fromkeys(TORCH_PARAMETERS, unknown("kwargs"))
    parts = [part for atom in arguments.options for part in ev.file_values.parts(atom)]
    is_known = bool(parts) and all(ev.file_values.is_mapping(part) for part in parts)
    found: dict[str, Val] = {}
    for name in TORCH_PARAMETERS:
        is_named = any(ev.file_values.names(part, name) for part in parts)
        if name in _PLAIN and is_named:
            found[name] = join(member_of(atom, name) for atom in arguments.options)
        elif is_named or not (is_known or name in _OBJECTS):
            found[name] = unknown("kwargs")
    return found
