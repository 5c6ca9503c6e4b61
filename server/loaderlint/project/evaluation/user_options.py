"""Values that the user of a program sets: command line options with their defaults, and configuration nodes.

`args.workers` is normally the default in `add_argument("--workers", default=4)`. Such constants are marked
`configured`: they count for the default behaviour of a loader and prove no branch dead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation import hyperparameters
from loaderlint.project.evaluation.argument_binding import Unpacked
from loaderlint.project.evaluation.file_imports import imported_files
from loaderlint.project.evaluation.file_parts import values_under
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.later_attributes import RECORDS, replaced_on, set_before
from loaderlint.project.evaluation.number_bounds import count_of
from loaderlint.project.evaluation.operators import split_text
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.replaced_options import (
    PARSE,
    open_frame,
    replaced,
    stores_option,
    storing_pieces,
    storing_texts,
)
from loaderlint.project.evaluation.taken_over_options import TAKING_OVER, taken_over, takes_over
from loaderlint.project.evaluation.values import (
    NOT_GIVEN,
    Atom,
    ClassRef,
    FunctionRef,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    Namespace,
    SeqOf,
    Site,
    Unknown,
    Val,
    is_none,
    join,
    of,
    unknown,
)
from loaderlint.project.evaluation.yaml_configurations import is_node
from loaderlint.project.modules.project_files import SeenPiece, is_def

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_PARSERS = ("argparse.ArgumentParser", "configargparse.ArgumentParser", "configargparse.ArgParser")
_MAKE = ("ArgumentParser", "ArgParser")
_FLAG_MODULES = ("absl.flags", "tensorflow.flags", "tensorflow.python.platform.flags", "tensorflow.app.flags", "gflags")
#: A configuration that no method reads from a file: what code assigns last is its value.
_EASY_DICT = "easydict.EasyDict"
_CONFIG_NODES = (
    "yacs.config.CfgNode",
    "fvcore.common.config.CfgNode",
    _EASY_DICT,
    "ml_collections.ConfigDict",
)
#: Records that no library reads a configuration into.
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
_DICT_METHODS = frozenset("get items keys values update pop copy setdefault".split())
#: How the names of functions begin that declare an option.
_HELPER = "add_arg"
_MAX_DECLARATIONS = 8
#: The configuration files that are read for one name.
_MAX_FILES = 64
_MAX_IMPORTED = 256


class _Declaration(NamedTuple):
    """A call of `add_argument` in a frame, and the file that declares the option: the caller's if a helper calls it."""

    path: Path
    frame: Frame
    call: ir.Call


class UserOptions:
    """Option declarations of one snapshot, looked up by name."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._options: dict[tuple[str, str], Val] = {}
        self._hyperparameters: dict[tuple[Site, str], Val] = {}
        self._declared: dict[str, list[_Declaration]] = {}
        self._imports: dict[Path, frozenset[Path]] = {}
        self._direct_imports: dict[Path, frozenset[Path]] = {}
        self._handed_out: dict[Path, bool] = {}
        self._extended: dict[Path, bool] = {}
        self._nodes: dict[tuple[LibObject, str], Val] = {}
        self._mentioning: dict[str, list[tuple[Path, int, SeenPiece]]] = {}
        self._taken_over: tuple[tuple[Path, Atom], ...] | None = None
        self._calling: dict[tuple[str, Path, int], list[tuple[int, ir.Call]]] = {}

    def parsed(self, owner: LibObject, method: str, frame: Frame) -> Val | None:
        """The result of `parser.parse_args()`; None for other calls."""
        return _parsed(method, Namespace(frame.path, "argparse")) if owner.name.startswith(_PARSERS) else None

    def parsed_in(self, method: str, callee: Val, frame: Frame) -> Val | None:
        """The result of `parser.parse_args()` in a file that creates a parser, also if this one went through unknown
        code. None for other calls."""
        file = self._ev.file(frame.path) if method in PARSE else None
        made = any(True for _ in file.mentioning("argparse.ArgumentParser")) if file else False
        owners = [one.owner if isinstance(one, LibMember) else None for one in callee.atoms]
        is_known = all(isinstance(one, LibObject) and one.name.startswith(_PARSERS) for one in owners)
        return _parsed(method, Namespace(frame.path, "argparse" if is_known else "a parser")) if made else None

    def attribute(self, atom: Namespace, name: str) -> Val:
        """Option `name` of a parsed command line, item `name` of a configuration."""
        if is_node(atom):
            return self._ev.yaml.attribute(atom, name)
        if name == "__dict__":
            return of(atom)
        key = (str(atom.path), name)
        if key not in self._options:
            with provisional(self._options, key, unknown("cycle")):
                self._options[key] = self._argparse_option(name, atom.path)
        return self._options[key]

    def among(self, options: tuple[Unpacked, ...], name: str) -> Iterator[Val]:
        """The option `name` of the only one of some parsed command lines, if the file that parses it, or one that it
        imports, declares this option, and its default is known."""
        if len(options) != 1 or not isinstance(options[0], Namespace):
            return
        path, value = options[0].path, self.attribute(options[0], name)
        declared = {one.path for one in self._declared.get(name, ())}
        is_declared = path in declared or not declared.isdisjoint(self._imported(path) if declared else ())
        if is_declared and value != unknown("config"):
            yield value

    def flag(self, module: str, name: str) -> Val | None:
        """`FLAGS.name` of absl and similar libraries; None for other modules."""
        if not module.startswith(_FLAG_MODULES):
            return None
        key = ("flags", name)
        if key not in self._options:
            with provisional(self._options, key, unknown("cycle")):
                self._options[key] = self._absl_flag(name)
        return self._options[key]

    def _hyperparameter(self, site: Site, name: str) -> Val:
        """The hyperparameter `name` that the call at `site` saves, which may be given what it saves:
        `self.save_hyperparameters(self.hparams)`."""
        key = (site, name)
        if key not in self._hyperparameters:
            with provisional(self._hyperparameters, key, unknown("cycle")):
                self._hyperparameters[key] = hyperparameters.given(self._ev, site, name)
        return self._hyperparameters[key]

    def node_attribute(self, atom: LibObject, name: str, read: Site | None) -> Val | None:
        """Attribute `name` of a yacs, EasyDict or ConfigDict node, or of another record, as expression `read` finds it;
        None if `atom` is none."""
        if atom.name == hyperparameters.KEPT:
            return None if name in _DICT_METHODS else self._hyperparameter(atom.site, name)
        given = self._given(atom, name)
        assigned = self._assigned(atom, name, given, read)
        if assigned is not None or given is not None:
            return assigned or given
        if not atom.name.startswith(_CONFIG_NODES) or not name.isidentifier() or name.islower() and len(name) < 3:
            return None
        if name in ("clone", "merge_from_file", "merge_from_list", "freeze", "defrost", "copy_and_resolve_references"):
            return None
        key = (atom, name)
        if key not in self._nodes:
            with provisional(self._nodes, key, unknown("cycle")):
                self._nodes[key] = self._node_default(*key)
        if self._nodes[key] == unknown("config") and self._ev.file_values.parts(atom):
            return None
        return self._nodes[key]

    def node_item(self, atom: LibObject, key: Val) -> Val | None:
        """Item `key` of a node whose items are its attributes; None if `atom` is none."""
        literal = key.literal
        if atom.name != hyperparameters.KEPT or literal is None or not isinstance(literal.value, str):
            return None
        return hyperparameters.given(self._ev, atom.site, literal.value)

    def _given(self, atom: LibObject, name: str) -> Val | None:
        """The argument for attribute `name` in the call that created a record; None if that is not known."""
        if atom.name not in RECORDS:
            return None
        passed = self._ev.calls.with_options(self._ev.calls.site_arguments(atom.site), (name,))
        given = dict(passed.keywords).get(name)
        for one in (atom for value in passed.positional[:1] for atom in value.only(MapOf, Namespace)):
            if given is None and isinstance(one, MapOf) and name in one.keys:
                given = one.values[one.keys.index(name)]
            elif given is None and isinstance(one, Namespace):
                given = self.attribute(one, name)
        return self._configured(given, "configuration default") if given is not None else None

    def _assigned(self, atom: LibObject, name: str, given: Val | None, read: Site | None) -> Val | None:
        """What code assigns to attribute `name` of a record; with what it was `given`, if that may be left. None if no
        code in sight does. The nodes of a module are a configuration: `_node_default`."""
        if atom.name not in RECORDS or (atom.name.startswith(_CONFIG_NODES) and atom.site.frame.def_ == 0):
            return None
        assigned, is_sure = set_before(self._ev, atom, name, read)
        if not assigned:
            return None
        found = join(assigned if is_sure or given is None else (given, *assigned))
        if atom.name in _NAMESPACES:
            return found
        if atom.name == _EASY_DICT and (is_sure or replaced_on(self._ev, atom.site, name) is not None):
            return found
        return self._configured(found, "configuration default")

    # --- looking declarations up --------------------------------------------------------------------------------------

    def _argparse_option(self, name: str, path: Path) -> Val:
        """What the code that parses the command line in a file puts in an option's place, or else the default of the
        option: declared in the file itself, or else in the files that it imports, or else in any other."""
        instead = replaced(self._ev, path, name)
        if instead is not None:
            return instead
        if name not in self._declared:
            self._declared[name] = list(self._declarations(name)) or list(self._declared_through_helpers(name))
        declared = self._declared[name]
        own = [one for one in declared if one.path == path]
        if not own and len({one.path for one in declared}) > 1:
            own = [one for one in declared if one.path in self._imported(path)]
        meant = (own or declared)[:_MAX_DECLARATIONS]
        values = [self._default(name, one.call, one.frame) for one in meant]
        values += self._set_defaults(name)
        values = self._split_up(name, values)
        allowed = self._choices(meant)
        if not values or allowed or any(is_none(atom) for one in values for atom in one.atoms):
            filled = list(self._filled_in(name, self._ev.files.containing(name)))
            filled += self._from_files(name)
            if allowed and not filled:
                return _one_of(allowed, join(values))
            values += filled or ([unknown("filled out of sight")] if self.is_handed_out(path) else [])
        elif all(map(_is_zero, values)):
            storing = {one for text in storing_texts(name) for one in self._ev.files.containing(text)}
            users = [one for one in sorted(storing) if path in self._imported(one)]
            values += [one for one in self._filled_in(name, users) if count_of(self._ev, one).least >= 1]
        else:
            values += self._from_files(name, path)
        return join(values) if values else unknown("config")

    def _choices(self, declared: list[_Declaration]) -> list[Literal_]:
        """The constants that an option accepts: `choices=["a", "b"]`. None if a declaration accepts anything."""
        found: dict[Literal_, None] = {}
        for one in declared:
            passed = next((arg.value for arg in one.call.args if arg.name == "choices"), None)
            allowed = self._ev.eval(passed, one.frame) if passed is not None else unknown("no choices")
            texts = _listed(allowed)
            if not texts:
                return []
            found.update(dict.fromkeys(texts))
        return list(found)

    def _imported(self, path: Path) -> frozenset[Path]:
        """The files of the project that a file imports, itself or through others."""
        if path not in self._imports:
            found, waiting = {path}, [path]
            while waiting and len(found) < _MAX_IMPORTED:
                fresh = self._imports_of(waiting.pop()) - found
                found |= fresh
                waiting += sorted(fresh)
            self._imports[path] = frozenset(found)
        return self._imports[path]

    def _imports_of(self, path: Path) -> frozenset[Path]:
        """The files of the project that a file imports itself."""
        if path not in self._direct_imports:
            self._direct_imports[path] = frozenset(imported_files(self._ev, path))
        return self._direct_imports[path]

    def _declarations(self, name: str) -> Iterator[_Declaration]:
        spellings = {f"--{name}", f"--{name.replace('_', '-')}", name, f"-{name}", name.replace("_", "-")}
        for frame, call in self._calls("add_argument", {s.lstrip("-") for s in spellings}):
            flags = [self._text(arg.value, frame) for arg in call.args if arg.kind == "pos"]
            dest = next((self._text(a.value, frame) for a in call.args if a.name == "dest"), None)
            if dest == name or (dest is None and any(flag in spellings for flag in flags)):
                yield _Declaration(frame.path, frame, call)

    def _declared_through_helpers(self, name: str) -> Iterator[_Declaration]:
        """The declarations that helpers make of their arguments: `add_arg("workers", int, 4)`, where `add_arg` calls
        `parser.add_argument("--" + name, type=type, default=default)`."""
        for path, piece, text in self._pieces(_HELPER):
            facts = self._ev.facts(path, piece) if text.holds(name) else None
            for index in range(len(facts.ir.defs) if facts else 0):
                frame = open_frame(self._ev, path, piece, index)
                for step, call in frame.code.calls:
                    if call.args and self._text(call.args[0].value, frame) in (name, f"--{name}"):
                        yield from (
                            _Declaration(path, inner, made)
                            for inner in self._ev.targets(step.call, frame)
                            for _, made in inner.code.calls
                            if _last_name(made.func, inner.code.exprs) == "add_argument"
                        )

    def _set_defaults(self, name: str) -> list[Val]:
        found: list[Val] = []
        for frame, call in self._calls("set_defaults", {name}):
            found.extend(self._configured(self._ev.eval(a.value, frame)) for a in call.args if a.name == name)
        return found

    def _filled_in(self, name: str, paths: Iterable[Path]) -> Iterator[Val]:
        """What the code of some files stores in an option: `args.workers = 4`, `options["workers"] = 4`."""
        for path in paths:
            file = self._ev.file(path)
            for piece in storing_pieces(file, name) if file else ():
                yield from self._stored(name, path, piece)

    def _split_up(self, name: str, values: list[Val]) -> list[Val]:
        """The values of an option, or the parts of its texts where code stores them instead:
        `args.train = args.train.split("+")`."""
        read = f".{name}.split("
        found = {one for path in self._ev.files.containing(read) for one in self._separators(name, path, read)}
        separator = found.pop() if len(found) == 1 else ""
        literals = [value.literal for value in values]
        texts = [one for one in literals if one is not None and isinstance(one.value, str)]
        if not separator or len(texts) < len(values):
            return values
        return [of(SeqOf("list", split_text(one, separator))) for one in texts]

    def _separators(self, name: str, path: Path, read: str) -> Iterator[str]:
        """The separators at which the code of a file splits an option; '' where one is not known."""
        file = self._ev.file(path)
        for piece in file.mentioning(read) if file else ():
            facts = self._ev.facts(path, piece)
            for one in facts.ir.defs if facts else ():
                for step in one.steps:
                    if facts is not None and isinstance(step, ir.SetAttr) and _splits(step, name, facts.ir.exprs):
                        yield _separator(step, facts.ir.exprs)

    def _from_files(self, name: str, parser: Path | None = None) -> list[Val]:
        """What code takes over from configuration files as options, whatever their names: any code, or that of file
        `parser` and of those that it imports."""
        if not self._ev.files.configurations(name):
            return []
        taken = (atom for path, atom in self._all_taken_over() if parser is None or path in self._imported(parser))
        return [value for atom in taken for value in self._ev.file_values.attribute(atom, name)]

    def _all_taken_over(self) -> tuple[tuple[Path, Atom], ...]:
        """The parts of files whose items code takes over as options, each with the file of the code."""
        if self._taken_over is None:
            pieces = [pair for word in TAKING_OVER for pair in self._pieces(word)]
            found = (one for path, piece, text in pieces if text.ask(takes_over) for one in self.frames_of(path, piece))
            taken = ((frame.path, atom) for frame in found for atom in taken_over(self._ev, frame))
            self._taken_over = tuple(dict.fromkeys(taken))
        return self._taken_over

    def is_handed_out(self, path: Path) -> bool:
        """Whether the file that parses the command line passes the options to code that is not in sight, which may
        store into them: `prepare(args)`, where `prepare` is imported from a missing module."""
        if path not in self._handed_out:
            self._handed_out[path] = any(self._passes_options(one) for one in self._with(PARSE, path))
        return self._handed_out[path]

    def is_extended(self, path: Path) -> bool:
        """Whether the file that parses the command line passes a parser to code of a library, which may declare more
        options: `Trainer.add_argparse_args(parser)`."""
        if path not in self._extended:
            self._extended[path] = any(self._passes_parser(one) for one in self._with(_MAKE, path))
        return self._extended[path]

    def _with(self, words: tuple[str, ...], path: Path) -> Iterator[Frame]:
        """The frames of a file that may read the result of some functions: those of pieces that hold one of `words`, or
        that name what such a piece of the module binds."""
        file = self._ev.file(path)
        pieces = {piece for word in words for piece in file.mentioning(word)} if file else set()
        bodies = [self._ev.body(path, piece) for piece in sorted(pieces)]
        names = {step.name for body in bodies for _, step in body.code.steps_of(ir.Bind)}
        pieces |= {piece for name in names for piece in file.mentioning(name)} if file else set()
        for piece in sorted(pieces):
            yield from self.frames_of(path, piece)

    def _passes_options(self, frame: Frame) -> bool:
        for _, call in frame.code.calls:
            may_count = call.args and not _is_method_of_result(call.func, frame.code.exprs)
            called = self._ev.eval(call.func, frame).atoms if may_count else frozenset()
            if any(isinstance(one, Lib) and self._ev.installed.is_out_of_sight(one.name) for one in called):
                if any(self._ev.eval(arg.value, frame).has(Namespace) for arg in call.args):
                    return True
        return False

    def _passes_parser(self, frame: Frame) -> bool:
        for _, call in frame.code.calls:
            passed = (atom for arg in call.args for atom in self._ev.eval(arg.value, frame).atoms)
            if any(isinstance(one, LibObject) and one.name.startswith(_PARSERS) for one in passed):
                called = self._ev.eval(call.func, frame).atoms
                if not all(isinstance(one, FunctionRef | ClassRef | Method) for one in called):
                    return True
        return False

    def _stored(self, name: str, path: Path, piece: int) -> Iterator[Val]:
        facts = self._ev.facts(path, piece)
        for index, one in enumerate(facts.ir.defs if facts else ()):
            frame = open_frame(self._ev, path, piece, index)
            for step in one.steps:
                if not isinstance(step, ir.SetAttr | ir.SetItem) or not stores_option(step, name, frame):
                    continue
                if _may_be_options(step.base, frame, self._ev):
                    yield self._ev.eval(step.value, frame)

    def _default(self, name: str, call: ir.Call, frame: Frame) -> Val:
        named = {a.name: a.value for a in call.args if a.kind == "kw"}
        if "default" in named:
            return self._configured(self._ev.eval(named["default"], frame))
        action = self._text(named["action"], frame) if "action" in named else None
        if action in ("store_true", "store_false"):
            return of(Literal_("bool", action == "store_false", "argparse default"))
        if "required" in named:
            return unknown("required option")
        how = NOT_GIVEN if "type" in named and not self._is_tested_for_none(name) else "argparse default"
        return of(Literal_("NoneType", None, how))

    def _is_tested_for_none(self, name: str) -> bool:
        """Whether some code of the project asks whether an option is None: `if args.size is None`."""
        return any(self._ev.files.containing(text) for text in _none_tests(name))

    def _configured(self, value: Val, how: str = "argparse default") -> Val:
        atoms = frozenset(
            replace(a, configured=a.configured or how) if isinstance(a, Literal_) else a for a in value.atoms
        )
        return Val(atoms)

    def _absl_flag(self, name: str) -> Val:
        values = []
        for frame, call in self._calls("DEFINE_", {name}):
            positional = [a.value for a in call.args if a.kind == "pos"]
            if positional and self._text(positional[0], frame) == name:
                named = {a.name: a.value for a in call.args if a.kind == "kw"}
                default = named.get("default", positional[1] if len(positional) > 1 else NONE)
                values.append(self._configured(self._ev.eval(default, frame), "flag default"))
        return join(values) if values else unknown("config")

    def _node_default(self, node: LibObject, name: str) -> Val:
        """What the project's own code stores under `name` in a configuration node, outside of functions: in this node
        or in one that may be it, otherwise in nodes that are called the same, otherwise in any node."""
        names = _stored_as(node.site)
        own: list[Val] = []
        named: list[Val] = []
        others: list[Val] = []
        for body, step in self._stored_at_module_level(name):
            base = self._ev.eval(step.base, body)
            is_named = _last_name(step.base, body.code.exprs) in names
            is_other = any(isinstance(one, LibObject) and one.name.startswith(_CONFIG_NODES) for one in base.atoms)
            is_own = node in base.atoms or (is_named and not is_other)
            value = self._configured(self._ev.eval(step.value, body), "configuration default")
            (own if is_own else named if is_named else others).append(value)
        found = own or named or others
        if found and all(map(_is_no_chance, found)):
            found = [*found, *self._chances(name)]
        return join(found) if found else unknown("config")

    def _chances(self, name: str) -> Iterator[Val]:
        """The chances that configuration files set under a name, whatever it is in: a program may merge any of them
        into its defaults."""
        for path in self._ev.files.configurations(name)[:_MAX_FILES]:
            shown = path.relative_to(self._ev.files.root).as_posix()
            for value in values_under(name, self._ev.files.configuration(path)):
                if isinstance(value, float) and value > 0:
                    yield of(Literal_("float", value, shown))

    def _stored_at_module_level(self, name: str) -> Iterator[tuple[Frame, ir.SetAttr]]:
        """The stores of an attribute of this name outside of functions and classes."""
        for path in self._ev.files.containing(f".{name}"):
            file = self._ev.file(path)
            for piece in file.mentioning(f".{name}") if file else ():
                if file is None or file.pieces[piece].kind == "class" or file.pieces[piece].ask(is_def):
                    continue
                facts = self._ev.facts(path, piece)
                for step in facts.ir.defs[0].steps if facts else ():
                    if type(step) is ir.SetAttr and step.name == name:
                        yield self._ev.body(path, piece), step

    def _calls(self, method: str, words: set[str]) -> list[tuple[Frame, ir.Call]]:
        """Calls of a function or method whose name starts with `method`, in pieces that hold one of `words`."""
        found: list[tuple[Frame, ir.Call]] = []
        in_order = sorted(words)
        for path, piece, text in self._pieces(method):
            if any(text.holds(word) for word in in_order):
                found += (
                    (open_frame(self._ev, path, piece, index), call)
                    for index, call in self._written(method, path, piece)
                )
        return found

    def _pieces(self, method: str) -> list[tuple[Path, int, SeenPiece]]:
        """The pieces that mention a method: the same for all options."""
        if method not in self._mentioning:
            files = [(path, self._ev.file(path)) for path in self._ev.files.containing(method)]
            self._mentioning[method] = [
                (path, piece, file.pieces[piece]) for path, file in files if file for piece in file.mentioning(method)
            ]
        return self._mentioning[method]

    def _written(self, method: str, path: Path, piece: int) -> list[tuple[int, ir.Call]]:
        """The calls in a piece of what is named so, each with the number of its def: a piece declares many options."""
        key = (method, path, piece)
        if key not in self._calling:
            facts = self._ev.facts(path, piece)
            self._calling[key] = [
                (index, call)
                for index in range(len(facts.ir.defs) if facts else 0)
                for _, call in Code(facts, index).calls
                if facts and _last_name(call.func, facts.ir.exprs).startswith(method)
            ]
        return self._calling[key]

    def frames_of(self, path: Path, piece: int) -> Iterator[Frame]:
        """A frame of each def of a piece, with unknown arguments."""
        facts = self._ev.facts(path, piece)
        yield from (open_frame(self._ev, path, piece, index) for index in range(len(facts.ir.defs) if facts else 0))

    def _text(self, number: int, frame: Frame) -> str | None:
        e = self._ev.expr(frame, number)
        return e.value if isinstance(e, ir.Const) and isinstance(e.value, str) else None


def _parsed(method: str, options: Namespace) -> Val | None:
    """What a method of a parser returns; None for others than those that parse."""
    if method not in PARSE:
        return None
    if method == "parse_known_args":
        return of(SeqOf("tuple", (of(options), unknown("config"))))
    return of(options)


def _listed(allowed: Val) -> list[Literal_]:
    """The constants of a list, tuple or set, or the keys of a dict; none if some item is not known."""
    (container,) = allowed.atoms if len(allowed.atoms) == 1 else (None,)
    if isinstance(container, MapOf):
        keys = [Literal_("str", key) for key in container.keys if key is not None]
        return keys if len(keys) == len(container.keys) else []
    items = [item.literal for item in container.items] if isinstance(container, SeqOf) else []
    found = [one for one in items if one is not None and not one.configured]
    return found if len(found) == len(items) else []


def _splits(step: ir.SetAttr, name: str, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a step stores the parts of an option in its place."""
    call = exprs[step.value] if step.name == name and step.value != NONE else None
    method = exprs[call.func] if isinstance(call, ir.Call) else None
    option = exprs[method.base] if isinstance(method, ir.Attr) and method.name == "split" else None
    return isinstance(option, ir.Attr) and option.name == name


def _separator(step: ir.SetAttr, exprs: tuple[ir.Expr, ...]) -> str:
    """The constant at which the call of `split` that a step stores takes a text apart; '' for anything else."""
    call = exprs[step.value]
    given = [exprs[arg.value] for arg in call.args] if isinstance(call, ir.Call) else []
    first = given[0] if len(given) == 1 else None
    return first.value if isinstance(first, ir.Const) and isinstance(first.value, str) else ""


def _none_tests(name: str) -> tuple[str, ...]:
    """The texts of code that asks whether an option is None, as people write it."""
    return (f".{name} is ", f".{name} == None", f".{name} != None", f'["{name}"] is ', f"['{name}'] is ")


def _is_zero(default: Val) -> bool:
    """Whether an option is the number 0 by default: some scripts may store another one, such as a number of workers."""
    literal = default.literal
    return literal is not None and type(literal.value) is int and literal.value == 0


def _is_no_chance(default: Val) -> bool:
    """Whether an option is 0 by default, and no truth value."""
    literal = default.literal
    return literal is not None and type(literal.value) in (int, float) and literal.value == 0


def _one_of(allowed: list[Literal_], default: Val) -> Val:
    """An option that accepts only these constants: its default, or else any of them."""
    texts = tuple(sorted(one.value for one in allowed if isinstance(one.value, str)))
    if any(is_none(atom) or isinstance(atom, Unknown) for atom in default.atoms):
        return of(*(replace(one, configured="argparse choice", choices=texts) for one in allowed))
    atoms = (replace(one, choices=texts) if isinstance(one, Literal_) else one for one in default.atoms)
    return of(*atoms)


def _is_method_of_result(number: int, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a callee is an attribute of what a call returns, and so no function of a library. To evaluate it would
    evaluate all that the call gets, and this question is asked in the middle of evaluating some of it."""
    e = exprs[number]
    while isinstance(e, ir.Attr):
        e = exprs[e.base]
    return isinstance(e, ir.Call)


def _last_name(number: int, exprs: tuple[ir.Expr, ...]) -> str:
    """The last name of `a.b.c` or `c`; '' for anything else."""
    e = exprs[number]
    return e.name if isinstance(e, ir.Attr | ir.Global) else ""


def _stored_as(site: Site) -> frozenset[str]:
    """The names of the variables and attributes that are given what an expression makes."""
    binds = (bind.name for _, bind in site.frame.code.bindings.get(site.expr, ()))
    stores = (step.name for _, step in site.frame.code.steps_of(ir.SetAttr) if step.value == site.expr)
    return frozenset((*binds, *stores))


def flags_module(atom: Lib) -> str | None:
    """The flags module that `FLAGS` belongs to, None if `atom` is no FLAGS object."""
    return atom.name.removesuffix(".FLAGS") if atom.name.endswith(".FLAGS") else None


def _may_be_options(number: int, frame: Frame, ev: Evaluator) -> bool:
    """Whether an expression may be a parsed command line, and not the object of a method."""
    e = ev.expr(frame, number)
    if (
        isinstance(e, ir.Param)
        and e.index == 0
        and frame.code.one is not None
        and frame.code.one.params[0].name == "self"
    ):
        return False
    return any(isinstance(atom, Namespace | Unknown) for atom in ev.eval(number, frame).atoms)
