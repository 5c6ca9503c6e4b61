"""The arguments of a loader's call under torch's names, for every kind of loader in `loaderlint.knowledge.wrappers`."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.wrappers import TORCH_PARAMETERS, LoaderKind
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import (
    NONE_VALUE,
    Atom,
    ClassRef,
    Instance,
    LibObject,
    Literal_,
    MapOf,
    SeqOf,
    Unknown,
    Val,
    join,
    of,
    unknown,
)
from loaderlint.project.loaders.file_arguments import passed_by_file


def loaders_made(ev: Evaluator, kind: LoaderKind, passed: Arguments, cls: ClassRef | None) -> Iterator[dict[str, Val]]:
    """The arguments, under torch's names, of each loader that a call creates. `cls`: the called class, if it is one of
    the project that derives from the library's."""
    if kind.configs:
        for position, name in enumerate(kind.parameters):
            value = passed.get(name, position) if name in kind.configs else None
            for atom in value.only(MapOf) if value is not None else ():
                yield _configured(atom)
        return
    mapped = _torch_arguments(ev, kind, passed)
    if kind.options is not None:
        mapped.update(_from_options(ev, kind, passed))
    if not kind.datasets:
        yield mapped
        return
    for name, maker in kind.datasets:
        overridden = cls is not None and ev.classes.member(cls, maker) is not None
        value = _all(passed.positional) if name == "*" else passed.get(name, _position(kind, name))
        if value is not None and not overridden and value != NONE_VALUE:
            yield {**mapped, "dataset": value}


def _position(kind: LoaderKind, name: str) -> int | None:
    return kind.parameters.index(name) if name in kind.parameters else None


def _all(values: tuple[Val, ...]) -> Val | None:
    return of(SeqOf("tuple", values)) if values else None


def _torch_arguments(ev: Evaluator, kind: LoaderKind, arguments: Arguments) -> dict[str, Val]:
    """The call's arguments under torch's parameter names."""
    rename = dict(kind.rename)
    found: dict[str, Val] = {}
    for position, value in enumerate(arguments.positional):
        if position < len(kind.parameters):
            found[rename.get(kind.parameters[position], kind.parameters[position])] = value
    for name, value in arguments.keywords:
        found.setdefault(rename.get(name, name), value)  # `**kwargs` cannot repeat a keyword of the call
    if arguments.more_keywords or arguments.more_positional:
        for name, more in passed_by_file(ev, arguments).items():
            found.setdefault(name, more)
    for name in kind.open_defaults:
        found.setdefault(name, unknown("the library's own default"))
    for name in kind.replaces:
        found.pop(name, None)
    for switch in kind.switches:
        literal = found[switch.argument].literal if switch.argument in found else Literal_("bool", False)
        if literal is None:
            found[switch.parameter] = unknown(switch.argument)
        elif literal.value:
            found[switch.parameter] = of(Literal_(type(switch.value).__name__, switch.value))
    return found


def _from_options(ev: Evaluator, kind: LoaderKind, passed: Arguments) -> dict[str, Val]:
    """torch's parameters, taken from the attributes of an options object."""
    assert kind.options is not None
    options = kind.options
    value = passed.get(options.argument, _position(kind, options.argument))
    if value is None or value == NONE_VALUE:
        return {}
    given = [_given(ev, atom, options.maker) for atom in value.ordered()]
    if len(given) != 1 or given[0] is None:
        return {name: unknown("training arguments") for name in ("num_workers", "persistent_workers")}
    names = {f"{options.prefix}{name}": name for name in TORCH_PARAMETERS}
    found = {names[name]: one for name, one in given[0].keywords if name in names}
    if given[0].more_keywords:
        for name in ("num_workers", "persistent_workers"):
            found.setdefault(name, unknown("kwargs"))
    return found


def _given(ev: Evaluator, atom: Atom, maker: tuple[str, ...]) -> Arguments | None:
    """The arguments of the call that created an options object; None if that call is unknown."""
    if isinstance(atom, LibObject) and atom.name in maker:
        return ev.calls.site_arguments(atom.site)
    if isinstance(atom, Instance) and atom.site is not None and set(ev.classes.library_bases(atom.cls)) & set(maker):
        own = [name for cls in ev.classes.mro(atom.cls) if isinstance(cls, ClassRef) for name in _named(ev, cls)]
        made = ev.calls.site_arguments(atom.site)
        fields = tuple((name, ev.classes.field(atom, name)) for name in own if made.get(name) is None)
        return Arguments(made.positional, made.keywords + fields, made.more_positional, made.more_keywords)
    return None


def _named(ev: Evaluator, cls: ClassRef) -> tuple[str, ...]:
    return tuple(name for name, member in ev.classes.own_members(cls).items() if member.function is None)


def _configured(config: MapOf) -> dict[str, Val]:
    """The arguments in a loader's configuration. Of what it builds from dicts, only the class is known."""
    found = {name: value for name, value in zip(config.keys, config.values, strict=True) if name is not None}
    for name, value in found.items():
        if name in ("dataset", "sampler", "batch_sampler", "collate_fn", "worker_init_fn"):
            found[name] = join(Val(frozenset({_built(name, atom)})) for atom in value.ordered())
    if None in config.keys:
        for name in TORCH_PARAMETERS:
            found.setdefault(name, unknown("a copied mapping"))
    return found


def _built(name: str, atom: Atom) -> Atom:
    """The value of a configuration dict: `dict(type=Photos)` is a dataset of that class, as if created by unknown
    code."""
    if not isinstance(atom, MapOf):
        return atom
    kinds = atom.values[atom.keys.index("type")] if "type" in atom.keys else unknown("registry")
    if len(kinds.atoms) != 1:
        return Unknown("registry")
    (made,) = kinds.atoms
    if name == "dataset":
        return Instance(made, None) if isinstance(made, ClassRef) else Unknown("registry")
    return made if name in ("collate_fn", "worker_init_fn") and not isinstance(made, Literal_) else Unknown("registry")


def keeps_workers(ev: Evaluator, inst: Instance) -> bool:
    """Whether a subclass of a loader creates its only iterator once, in its constructor: its workers never end."""
    for frame in ev.classes.construction(inst):
        for _, call in ev.performed(frame):
            func = ev.expr(frame, call.func)
            base = ev.expr(frame, func.base) if isinstance(func, ir.Attr) and func.name == "__iter__" else None
            if isinstance(base, ir.Call) and ev.expr(frame, base.func) == ir.Global("super"):
                return True
    return False
