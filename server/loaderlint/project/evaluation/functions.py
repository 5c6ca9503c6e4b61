"""Functions of the project: their decorators and defaults, the frames that run them, and what they return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.higher_order import (
    CONFIGURING_DECORATORS,
    KEEPING_DECORATORS,
    MEMOIZING_DECORATORS,
    PROPERTY_DECORATORS,
    STUB_DECORATORS,
    TRANSPARENT_DECORATORS,
)
from loaderlint.knowledge.pytest_fixtures import FIXTURE_DECORATORS
from loaderlint.knowledge.settings import OPTION_DECORATORS
from loaderlint.project.evaluation.argument_binding import Arguments, named_parameters
from loaderlint.project.evaluation.classes import declared_default
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.items_at_use import returned_with_items
from loaderlint.project.evaluation.limits import CALLS, MAX_CALLS, MAX_CONTEXTS, MAX_OWN_CONTEXTS
from loaderlint.project.evaluation.open_frames import owner_of
from loaderlint.project.evaluation.properties import ACCESSORS
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import (
    ABSENT,
    NONE_VALUE,
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    Namespace,
    Origin,
    PartialOf,
    SeqOf,
    Site,
    Unknown,
    Val,
    by_default,
    constant,
    join,
    of,
    present_or,
    unknown,
)
from loaderlint.project.evaluation.yaml_configurations import SOURCE, is_node
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.modules.project_files import is_bare_function

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: A call inside a library counts as this many calls, so only a few levels of calls into a library are followed. They
#: are fewer if the call passes no object of the project, because such calls are internal to the library.
_LIBRARY_CALL = 4
_LIBRARYS_OWN_CALL = 12


class Functions:
    """Function questions of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._returns: dict[Frame, Val] = {}
        self._running: set[Frame] = set()
        self._bare: dict[tuple[Path, int], bool] = {}
        self._wrappers: dict[FunctionRef, FunctionRef | None] = {}

    def open_frame(
        self, function: FunctionRef, receiver: Atom | None, owner: ClassRef | None, *, trusts_defaults: bool = True
    ) -> Frame | None:
        """The frame of a function when unknown code calls it: a parameter is its default or anything.
        `trusts_defaults`: a number, string or flag is the usual value."""
        facts = self._ev.facts(function.path, function.piece)
        if facts is None:
            return None
        params = facts.ir.defs[function.def_].params
        args: list[Val | None] = []
        for index, param in enumerate(params):
            if index == 0 and receiver is not None:
                args.append(of(receiver))
            elif param.kind == "starstar":
                args.append(of(MapOf((None,), (unknown("parameter"),))))
            elif param.default == NONE:
                option = self._option(function, param.name)
                option = option or self._ev.fixtures.passed(function, param.name, receiver, owner)
                args.append(option or self._annotated(function, param) or unknown("parameter"))
            else:
                default = self.default(function, param)
                args.append(_open_default(default) if trusts_defaults else join((default, unknown("parameter"))))
        own = self._ev.installed.holds(function.path) and not (receiver and self._is_defined_in_project(receiver))
        most = MAX_OWN_CONTEXTS if own else MAX_CONTEXTS
        return self._ev.frame(
            function.path, function.piece, function.def_, receiver, tuple(args), function.scope, owner, 0, most
        )

    def _annotated(self, function: FunctionRef, param: ir.ParamIR) -> Val | None:
        """An instance of the project's class that annotates a parameter, created by unknown code; None for other
        annotations."""
        if param.annotation == NONE:
            return None
        classes = self._ev.eval(param.annotation, self._defining(function)).only(ClassRef)
        return of(Instance(classes[0], None), Unknown("parameter")) if classes else None

    def _defining(self, function: FunctionRef) -> Frame:
        """The frame in which a function's defaults and decorators are evaluated."""
        return function.scope or self._ev.body(function.path, function.piece)

    def default(self, function: FunctionRef, param: ir.ParamIR) -> Val:
        """The value of a parameter's default, or of the command's option that it stands for."""
        if param.default == NONE:
            option = self._option(function, param.name)
            return option if option is not None else unknown("parameter")
        value = self._ev.eval(param.default, self._defining(function))
        if self.is_decorated(function, CONFIGURING_DECORATORS):
            return by_default(value, SOURCE)
        declared = declared_default(self._ev, value)
        return value if declared is value else by_default(declared, "option default")

    def argument(self, frame: Frame, index: int) -> Val:
        """The value of the parameter at `index` in a frame: the argument, or its default."""
        one = frame.code.one
        if one is None or index >= len(one.params):
            return unknown("half typed")
        given = frame.args[index] if index < len(frame.args) else None
        if given is not None and ABSENT not in given.atoms:
            return given
        default = self.default(FunctionRef(frame.path, frame.piece, frame.def_, frame.scope), one.params[index])
        return default if given is None else present_or(given, default)

    def bound(self, function: FunctionRef, receiver: Atom | None, arguments: Arguments) -> tuple[Val | None, ...]:
        """One value for each parameter of a function, None if nothing is passed. The default of a parameter that a
        configuration may pass with others (`**cfg.loader`) is passed as a default of that configuration."""
        one = self._ev.code(function).one
        params = one.params if one is not None else ()
        passed = self._ev.calls.with_options(arguments, named_parameters(params))
        args = passed.bind(params, of(receiver) if receiver is not None else None)
        if not any(isinstance(one, Namespace) and is_node(one) for one in passed.options):
            return args
        return tuple(
            by_default(self.default(function, param), SOURCE)
            if given is None and param.kind in ("any", "kw") and param.default != NONE
            else given
            for given, param in zip(args, params, strict=True)
        )

    def _option(self, function: FunctionRef, name: str) -> Val | None:
        """The default of the option `name` that a decorator declares (`@click.option("--name", default=4)`)."""
        facts = None if self._is_bare(function) else self._ev.facts(function.path, function.piece)
        for decorator in facts.ir.defs[function.def_].decorators if facts else ():
            assert facts is not None
            e = facts.ir.exprs[decorator]
            called = self._decorator_name(facts, decorator, function) if isinstance(e, ir.Call) else ""
            if isinstance(e, ir.Call) and called == "hydra.main":
                return self._ev.yaml.of_main(e, self._defining(function))
            if isinstance(e, ir.Call) and called in OPTION_DECORATORS:
                if _option_name(facts, e) == name:
                    passed = self._ev.calls.arguments(e, self._defining(function))
                    return by_default(_option_default(passed), "option default")
        return None

    def invoke(
        self,
        function: FunctionRef,
        receiver: Atom | None,
        owner: ClassRef | None,
        arguments: Arguments,
        caller: Frame,
    ) -> tuple[Val, tuple[Frame, ...]]:
        """Call a function of the project: its result and its frame. Too deep or recursive: Unknown."""
        if self._ev.facts(function.path, function.piece) is None:
            return unknown("half typed"), ()
        decoration = self.decoration(function)
        if decoration == "stub":
            return unknown("overload"), ()
        wrapper = self.wrapper(function) if decoration == "unknown" else None
        if wrapper is not None and caller.depth < MAX_CALLS:
            return self.invoke(wrapper, None, None, _with_receiver(receiver, arguments), caller)
        if receiver is None and function.bare and (method := self._wrapped_method(function, arguments)) is not None:
            receiver, owner = method
            arguments = replace(arguments, positional=arguments.positional[1:])
        args = self.bound(function, receiver, arguments)
        nested = self.depth_of_call(function, args, caller)
        if nested > MAX_CALLS:
            self._ev.limits.note(CALLS, function.path, function.piece, function.def_)
            return unknown("too deep" if nested == caller.depth + 1 else "library too deep"), ()
        most = MAX_OWN_CONTEXTS if self._is_own_call(function, args, caller) else MAX_CONTEXTS
        frame = self._ev.frame(
            function.path, function.piece, function.def_, receiver, args, function.scope, owner, nested, most
        )
        if decoration == "unknown":
            return unknown("decorator"), (frame,)
        return self._kept(function, receiver, self.returned(frame)), (frame,)

    def _kept(self, function: FunctionRef, receiver: Atom | None, returned: Val) -> Val:
        """What a function returns, which `functools.lru_cache` keeps: the next call gets the same object."""
        if self._is_bare(function) or not self.is_decorated(function, MEMOIZING_DECORATORS):
            return returned
        one = self._ev.code(function).one
        owner = receiver if isinstance(receiver, Instance) else ModuleRef(function.path)
        kept = Origin(owner, (one.name if one is not None else "", "[]"), "element")
        return Val(returned.atoms, returned.origins | {kept})

    def _wrapped_method(self, function: FunctionRef, arguments: Arguments) -> tuple[Instance, ClassRef] | None:
        """The object and the class of a method that the wrapper around it calls: `function(self, index)`."""
        facts = self._ev.facts(function.path, function.piece)
        owner = owner_of(self._ev, function.path, function.piece, function.def_, facts) if facts is not None else None
        first = arguments.positional[0].only(Instance) if arguments.positional else []
        return (first[0], owner) if owner is not None and len(first) == 1 else None

    def depth_of_call(self, function: FunctionRef, args: Sequence[Val | None], caller: Frame) -> int:
        """The nesting depth of a frame that a call with these arguments runs. A call inside a library counts as
        several."""
        holds = self._ev.installed.holds
        if not (holds(caller.path) and holds(function.path)):
            return caller.depth + 1
        given = any(map(self._is_of_project, _passed(args)))
        return caller.depth + (_LIBRARY_CALL if given else _LIBRARYS_OWN_CALL)

    def _is_own_call(self, function: FunctionRef, args: Sequence[Val | None], caller: Frame) -> bool:
        """Whether a library calls itself with nothing that the project defines, and nothing that something holds."""
        holds = self._ev.installed.holds
        if not (holds(caller.path) and holds(function.path)):
            return False
        owners = (origin.owner for value in args if value is not None for origin in value.origins)
        return not any(map(self._is_defined_in_project, (*owners, *_passed(args))))

    def _is_defined_in_project(self, atom: Atom) -> bool:
        holds = self._ev.installed.holds
        match atom:
            case FunctionRef(path) | ClassRef(path) | ModuleRef(path):
                return not holds(path)
            case Method(function, receiver, _):
                return not holds(function.path) or self._is_defined_in_project(receiver)
            case Instance(cls):
                return not holds(cls.path)
            case PartialOf(func):
                return self._is_defined_in_project(func)
        return False

    def _is_of_project(self, atom: Atom) -> bool:
        """Whether a function, class or object is defined in the project, or created there from a library's class."""
        holds = self._ev.installed.holds
        match atom:
            case ModuleRef():
                return False
            case Method(function, receiver, _):
                return not holds(function.path) or self._is_of_project(receiver)
            case LibObject(_, site) | PartialOf(_, site):
                return not holds(site.frame.path)
            case Instance(_, site) if site is not None and not holds(site.frame.path):
                return True
        return self._is_defined_in_project(atom)

    def wrapper(self, function: FunctionRef) -> FunctionRef | None:
        """The wrapper that decorators of the project put in place of a function, and that calls it; None if none is
        known."""
        if function not in self._wrappers:
            with provisional(self._wrappers, function, None):
                self._wrappers[function] = self._find_wrapper(function)
        return self._wrappers[function]

    def _find_wrapper(self, function: FunctionRef) -> FunctionRef | None:
        facts = self._ev.facts(function.path, function.piece)
        frame = self._defining(function)
        found = replace(function, bare=True)
        for decorator in reversed(facts.ir.defs[function.def_].decorators if facts else ()):
            if facts and self._decorator_name(facts, decorator, function) in TRANSPARENT_DECORATORS:
                continue
            made = _only_function(self._ev.eval(decorator, frame))
            given = self.invoke(made, None, None, Arguments((of(found),)), frame)[0] if made is not None else None
            around = _only_function(given) if given is not None else None
            if around is None or not (around == found or self._calls_captured(around)):
                return None
            found = around
        return found

    def _calls_captured(self, function: FunctionRef) -> bool:
        """Whether a nested function calls a name of the function around it."""
        code = self._ev.code(function)
        return any(isinstance(code.exprs[call.func], ir.Capture) for _, call in code.calls)

    def decoration(self, function: FunctionRef) -> str:
        """What decorators turn a function into: 'plain', 'property', 'setter' or 'deleter' of one, 'static', 'class',
        'manager', 'stub' or 'unknown'. What a fixture of pytest yields reaches its users like that of a manager."""
        if function.bare or self._is_bare(function):
            return "plain"
        facts = self._ev.facts(function.path, function.piece)
        if facts is None:
            return "unknown"
        answer = "plain"
        for decorator in facts.ir.defs[function.def_].decorators:
            name = self._decorator_name(facts, decorator, function)
            if name in PROPERTY_DECORATORS or name == ".getter":
                answer = "property"
            elif name in (".setter", ".deleter"):
                answer = name[1:]
            elif name == "builtins.staticmethod":
                answer = "static"
            elif name == "builtins.classmethod":
                answer = "class"
            elif name == "contextlib.contextmanager" or name in FIXTURE_DECORATORS:
                answer = "manager"
            elif name in STUB_DECORATORS:
                return "stub"
            elif name not in TRANSPARENT_DECORATORS and name not in CONFIGURING_DECORATORS:
                return "unknown"
        return answer

    def fails_after_work(self, function: FunctionRef) -> bool:
        """Whether a function does something, and ends with a `raise` on every way: no dataset gives a sample with
        it."""
        one = self._ev.code(function).one
        steps = one.steps if one is not None else ()
        raised = next((n for n, step in enumerate(steps) if isinstance(step, ir.Raise) and step.context == 0), 0)
        before = steps[:raised]
        works = any(isinstance(step, ir.Bind | ir.SetAttr | ir.Evaluate | ir.Iterate) for step in before)
        return works and not any(isinstance(step, ir.Return | ir.YieldStep) for step in before)

    def is_decorated(self, function: FunctionRef, names: frozenset[str]) -> bool:
        """Whether one of a function's decorators is a library's with one of these names, or made by it."""
        facts = None if self._is_bare(function) else self._ev.facts(function.path, function.piece)
        decorators = facts.ir.defs[function.def_].decorators if facts else ()
        return any(self._decorator_name(facts, one, function) in names for one in decorators if facts)

    def may_accept_others(self, function: FunctionRef) -> bool:
        """Whether a decorator may accept other arguments than the function itself, or pass some of its own."""
        return self.decoration(function) in ("unknown", "stub") or self.is_decorated(function, CONFIGURING_DECORATORS)

    def runs_at_read(self, function: FunctionRef) -> bool:
        """Whether a function is a property whose result nothing keeps."""
        facts = self._ev.facts(function.path, function.piece)
        if facts is None or self.decoration(function) != "property":
            return False
        decorators = facts.ir.defs[function.def_].decorators
        return all(self._decorator_name(facts, one, function) not in KEEPING_DECORATORS for one in decorators)

    def _is_bare(self, function: FunctionRef) -> bool:
        """Whether the text of a function shows that it has no decorators: few of the named methods are called and need
        their facts."""
        if function.def_ != 1:
            return False
        place = (function.path, function.piece)
        known = self._bare.get(place)
        if known is None:
            file = self._ev.file(function.path)
            known = self._bare[place] = file is not None and file.pieces[function.piece].ask(is_bare_function)
        return known

    def _decorator_name(self, facts: PieceFacts, decorator: int, function: FunctionRef) -> str:
        e = facts.ir.exprs[decorator]
        if isinstance(e, ir.Call):
            decorator = e.func
            e = facts.ir.exprs[decorator]
        if isinstance(e, ir.Attr) and e.name in ACCESSORS:
            return f".{e.name}"
        value = self._ev.eval(decorator, self._defining(function))
        (atom,) = value.atoms if len(value.atoms) == 1 else (None,)
        if isinstance(atom, LibMember) and isinstance(atom.owner, LibObject):
            return f"{atom.owner.name}.{atom.name}"
        return atom.name if isinstance(atom, Lib) else ""

    def returned(self, frame: Frame) -> Val:
        """The result of a call that runs `frame`."""
        known = self._returns.get(frame)
        if known is not None:
            return known
        one = self._ev.def_of(frame)
        if one is None:
            return unknown("half typed")
        if frame in self._running:
            return unknown("cycle")
        self._running.add(frame)
        try:
            value = self._returned(one, frame)
        finally:
            self._running.discard(frame)
        self._returns[frame] = value
        return value

    def _returned(self, one: DefIR, frame: Frame) -> Val:
        yields = [
            self._ev.eval(step.value, frame)
            for _, step in frame.code.steps_of(ir.YieldStep)
            if not step.is_from and not (step.context and self._ev.liveness.is_dead(step.context, frame))
        ]
        if one.is_generator:
            function = FunctionRef(frame.path, frame.piece, frame.def_, frame.scope)
            if self.decoration(function) == "manager":
                return join(yields) if yields else unknown("generator")
            return of(
                SeqOf("list", (join(yields),) if yields else ()), LibObject("builtins.generator", Site(frame, -2))
            )
        returns = self._ev.liveness.returns(frame)
        values = [returned_with_items(self._ev, step, number, frame) for number, step in returns]
        if not values or (one.falls_through and not self._ev.liveness.always_returns(frame)):
            values.append(NONE_VALUE)
        return join(values)


def _passed(args: Sequence[Val | None]) -> Iterator[Atom]:
    """What arguments may be, with the items of containers in their place; what containers in these hold is left out."""
    for atom in (atom for value in args if value is not None for atom in value.atoms):
        if isinstance(atom, SeqOf | MapOf):
            items = atom.items if isinstance(atom, SeqOf) else atom.values
            yield from (one for item in items for one in item.atoms if not isinstance(one, SeqOf | MapOf))
        else:
            yield atom


def _with_receiver(receiver: Atom | None, arguments: Arguments) -> Arguments:
    """What a wrapper gets that stands in the place of a method: the object comes first."""
    if receiver is None:
        return arguments
    return replace(arguments, positional=(of(receiver), *arguments.positional))


def _only_function(value: Val) -> FunctionRef | None:
    """The only function of the project that a value can be; None if there is not exactly one."""
    found = [atom for atom in value.atoms if isinstance(atom, FunctionRef)]
    return found[0] if len(found) == len(value.atoms) == 1 else None


def _option_name(facts: PieceFacts, call: ir.Call) -> str:
    """The parameter that an option becomes: the name without dashes, if one is given, else its longest flag."""
    texts = [facts.ir.exprs[arg.value] for arg in call.args if arg.kind == "pos"]
    flags = [e.value for e in texts if isinstance(e, ir.Const) and isinstance(e.value, str)]
    plain = [flag for flag in flags if not flag.startswith("-")]
    longest = max((flag.partition("/")[0] for flag in flags), key=len, default="")
    return plain[0] if plain else longest.lstrip("-").replace("-", "_")


def _option_default(passed: Arguments) -> Val:
    default = passed.get("default")
    if default is not None:
        return default
    if passed.get("required") is not None:
        return unknown("required option")
    return constant("bool", False) if passed.get("is_flag") is not None else NONE_VALUE


def _open_default(value: Val) -> Val:
    """A parameter's default if callers are unknown. A number, string or flag counts as its usual value."""
    literal = value.literal
    if literal is None or literal.value is None:
        return join((value, unknown("parameter")))
    return of(Literal_(literal.kind, literal.value, literal.configured or "default"))
