"""The evaluator: what an expression may be, on demand, across files, without running anything.

Everything is asked for lazily and remembered in the frame it was asked in. Nothing here knows rules or loaders.
A value that cannot be known is `Unknown` with its reason, never a guess.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR, PieceFacts
from loaderlint.knowledge.arrays import VIEW_ATTRIBUTES
from loaderlint.knowledge.callers import (
    PROPERTY_DECORATORS,
    STUB_DECORATORS,
    TRANSPARENT_DECORATORS,
)
from loaderlint.knowledge.names import OPTIONAL_IMPORTERS, canonical
from loaderlint.project import classes, configured, growth, imports, late, library
from loaderlint.project.arguments import NO_ARGUMENTS, Arguments
from loaderlint.project.files import MODULE, Binding, Files, ProjectFile, defined_name
from loaderlint.project.frames import Code, Frame
from loaderlint.project.values import (
    BOTTOM,
    NONE_VALUE,
    Atom,
    ClassRef,
    FolderRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    ModuleRef,
    Namespace,
    Origin,
    PartialOf,
    SeqOf,
    Site,
    SuperRef,
    Unknown,
    Val,
    constant,
    extended,
    join,
    lib,
    of,
    unknown,
)

_BUILTINS = frozenset(dir(builtins))
_PENDING = None
#: What tells the frames of one def apart: the receiver, the arguments, the frame around, the class it was found in.
_Context = tuple[Atom | None, tuple[Val | None, ...], Frame | None, ClassRef | None]
MAX_DEPTH = 24
MAX_CONTEXTS = 24


class Evaluator:
    """Evaluates expressions of one immutable snapshot of a project."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._paths = {path: path for path in files.paths()}
        self._codes: dict[tuple[Path, int, int], tuple[Code, dict[_Context, Frame]]] = {}
        self._returns: dict[Frame, Val] = {}
        self._running: set[Frame] = set()
        self._facts: dict[tuple[Path, int], PieceFacts | None] = {}
        self._resolved: dict[tuple[Path, str, int], ModuleRef | FolderRef | None] = {}
        self._lookups: dict[tuple[Path, str, int | None], Val] = {}
        self._looking: set[tuple[Path, str, int | None]] = set()
        self.classes = classes.Classes(self)
        self.configured = configured.Configured(self)

    def take_apart(self) -> None:
        """See `Model.take_apart`."""
        for _, frames in self._codes.values():
            for frame in frames.values():
                frame.memo.clear()
                frame.targets.clear()
        vars(self).clear()

    # --- frames -------------------------------------------------------------------------------------------------------

    def file(self, path: Path) -> ProjectFile | None:
        """A file of the snapshot."""
        return self.files.file(path)

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        """The facts of a piece; None where the file or the piece cannot be read."""
        key = (path, piece)
        try:
            return self._facts[key]
        except KeyError:
            file = self.files.file(path)
            found = self._facts[key] = file.facts_of(piece) if file and piece < len(file.pieces) else None
            return found

    def resolve(self, importer: Path, module: str, level: int) -> ModuleRef | FolderRef | None:
        """The module of the project that an import names; None if it is none of the project's."""
        key = (importer, module, level)
        if key not in self._resolved:
            beside = (importer.parent, module, level) if imports.resolves_as_neighbours(self.files, importer) else key
            if beside not in self._resolved:
                self._resolved[beside] = self._interned(imports.resolve(self.files, importer, module, level))
            self._resolved[key] = self._resolved[beside]
        return self._resolved[key]

    def _interned(self, found: ModuleRef | FolderRef | None) -> ModuleRef | FolderRef | None:
        """The same module with the path object that its file has: equal paths are slow to compare."""
        return ModuleRef(self._paths.get(found.path, found.path)) if isinstance(found, ModuleRef) else found

    def def_of(self, frame: Frame) -> DefIR | None:
        """The def a frame runs."""
        return frame.code.one

    def expr(self, frame: Frame, number: int) -> ir.Expr | None:
        """The expression itself."""
        exprs = frame.code.exprs
        return exprs[number] if exprs and number != NONE else None

    def performed(self, frame: Frame) -> tuple[tuple[ir.Perform, ir.Call], ...]:
        """The calls of a frame's def in source order, those of dead branches too; nothing is evaluated."""
        return frame.code.calls

    def body(self, path: Path, piece: int) -> Frame:
        """The frame of a piece's own body (module level or class body)."""
        return self.frame(path, piece, 0, None, (), None, None, 0)

    def frame(
        self,
        path: Path,
        piece: int,
        def_: int,
        receiver: Atom | None,
        args: tuple[Val | None, ...],
        scope: Frame | None,
        owner: ClassRef | None,
        depth: int,
    ) -> Frame:
        """The one frame with these parts. Past `MAX_CONTEXTS` frames of one def their arguments are forgotten."""
        code, frames = self._code(path, piece, def_)
        context = (receiver, args, scope, owner)
        found = frames.get(context)
        if found is not None:
            found.depth = min(found.depth, depth)
            return found
        count = len(frames)
        if count >= MAX_CONTEXTS and any(args):
            forgotten = tuple(unknown("too many") if value is not None else None for value in args)
            if forgotten != args:
                return self.frame(path, piece, def_, receiver, forgotten, scope, owner, depth)
        order = f"{path}:{piece:06}:{def_:06}:{count:06}"
        made = frames[context] = Frame(path, piece, def_, receiver, args, scope, owner, depth, order, code)
        return made

    def code(self, function: FunctionRef) -> Code:
        """What is written in a function; no frame is made."""
        return self._code(function.path, function.piece, function.def_)[0]

    def _code(self, path: Path, piece: int, def_: int) -> tuple[Code, dict[_Context, Frame]]:
        place = (path, piece, def_)
        known = self._codes.get(place)
        if known is None:
            known = self._codes[place] = (Code(self.facts(path, piece), def_), {})
        return known

    def open_frame(self, function: FunctionRef, receiver: Atom | None, owner: ClassRef | None) -> Frame | None:
        """The frame of a function that somebody out of sight calls: a parameter is its default or anything."""
        facts = self.facts(function.path, function.piece)
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
                args.append(self._annotated(function, param) or unknown("parameter"))
            else:
                args.append(_open_default(self.default(function, param)))
        return self.frame(function.path, function.piece, function.def_, receiver, tuple(args), function.scope, owner, 0)

    def _annotated(self, function: FunctionRef, param: ir.ParamIR) -> Val | None:
        """An instance of the project's class that annotates a parameter, made out of sight; None for other
        annotations."""
        if param.annotation == NONE:
            return None
        value = self.eval(param.annotation, self._defining(function))
        for atom in value.only(ClassRef):
            if isinstance(atom, ClassRef):
                return of(Instance(atom, None), Unknown("parameter"))
        return None

    def _defining(self, function: FunctionRef) -> Frame:
        """The frame in which a function's defaults and decorators are evaluated."""
        return function.scope or self.body(function.path, function.piece)

    def default(self, function: FunctionRef, param: ir.ParamIR) -> Val:
        """The value of a parameter's default."""
        return self.eval(param.default, self._defining(function)) if param.default != NONE else unknown("parameter")

    # --- expressions --------------------------------------------------------------------------------------------------

    def eval(self, number: int, frame: Frame) -> Val:
        """What expression `number` of the frame's piece may be, in that frame."""
        memo = frame.memo
        known = memo.get(number, _PENDING)
        if known is not _PENDING:
            return known
        if number == NONE:
            return NONE_VALUE
        if number in memo:
            return BOTTOM
        exprs = frame.code.exprs
        if number >= len(exprs):
            return unknown("half typed")
        e = exprs[number]
        if type(e) is ir.Const:
            value = memo[number] = constant(*e)
            return value
        memo[number] = _PENDING
        try:
            value = _MEANINGS[type(e)](self, e, number, frame)
        except RecursionError:
            value = unknown("too deep")
        memo[number] = value
        return value

    def _attr(self, e: ir.Attr, number: int, frame: Frame) -> Val:
        return self.attribute(self.eval(e.base, frame), e.name, frame, number)

    def _phi(self, e: ir.Phi, number: int, frame: Frame) -> Val:
        return join([self.eval(choice, frame) for choice in self.live(e.choices, frame)])

    def _imported(self, e: ir.Imported, number: int, frame: Frame) -> Val:
        return self.imported(frame.path, e.module, e.name, e.level)

    def _if_expression(self, e: ir.IfExp, number: int, frame: Frame) -> Val:
        truth = self.truth(e.test, frame)
        chosen = [x for x, dead in ((e.then, truth is False), (e.other, truth is True)) if not dead]
        self.eval(e.test, frame)
        return join([self.eval(x, frame) for x in chosen])

    def _either(self, e: ir.BoolOp, number: int, frame: Frame) -> Val:
        return join((self.eval(e.left, frame), self.eval(e.right, frame)))

    def _binary(self, e: ir.Bin, number: int, frame: Frame) -> Val:
        return library.binary(e.op, self.eval(e.left, frame), self.eval(e.right, frame), Site(frame, number))

    def _augmented(self, e: ir.Augmented, number: int, frame: Frame) -> Val:
        before, by = self.eval(e.target, frame), self.eval(e.value, frame)
        after = library.binary(e.op, before, by, Site(frame, number))
        return Val(after.atoms, before.origins)

    def _unary(self, e: ir.Unary, number: int, frame: Frame) -> Val:
        return library.unary(e.op, self.eval(e.operand, frame), Site(frame, number))

    def _compared(self, e: ir.Compare, number: int, frame: Frame) -> Val:
        self._eval_all((e.left, *e.rights), frame)
        return of(LibObject("builtins.bool", Site(frame, number)))

    def _comprehension(self, e: ir.Comp, number: int, frame: Frame) -> Val:
        self._eval_all(e.iterables, frame)
        if e.key != NONE:
            self.eval(e.key, frame)
        item = self.eval(e.element, frame)
        if e.kind == "dict":
            return of(MapOf((None,), (item,), Site(frame, number)))
        return of(SeqOf("set" if e.kind == "set" else "list", (item,), Site(frame, number)))

    def _element(self, e: ir.Element, number: int, frame: Frame) -> Val:
        return library.element(self, self.eval(e.iterable, frame), frame, number)

    def _unpack(self, e: ir.Unpack, number: int, frame: Frame) -> Val:
        return library.unpack(self, self.eval(e.value, frame), e.index, e.starred, frame, number)

    def _inner(self, e: ir.Star | ir.Await, number: int, frame: Frame) -> Val:
        return self.eval(e.value, frame)

    def _text(self, e: ir.Text, number: int, frame: Frame) -> Val:
        self._eval_all(e.parts, frame)
        return of(LibObject("builtins.str", Site(frame, number)))

    def _slice(self, e: ir.Slice, number: int, frame: Frame) -> Val:
        self._eval_all((e.lower, e.upper, e.step), frame)
        return of(LibObject("builtins.slice", Site(frame, number)))

    def _sent(self, e: ir.Yield, number: int, frame: Frame) -> Val:
        self.eval(e.value, frame)
        return unknown("sent into a generator")

    def _caught(self, e: ir.Caught, number: int, frame: Frame) -> Val:
        return of(LibObject("builtins.Exception", Site(frame, number)))

    def _opaque(self, e: ir.Opaque, number: int, frame: Frame) -> Val:
        return unknown(e.reason)

    def _eval_all(self, numbers: tuple[int, ...], frame: Frame) -> None:
        for number in numbers:
            self.eval(number, frame)

    def _entered(self, e: ir.Entered, number: int, frame: Frame) -> Val:
        manager = e.manager
        value = self.eval(manager, frame)
        parts: list[Val] = []
        for atom in value.ordered():
            if isinstance(atom, Instance):
                entered = self.attribute(of(atom), "__enter__", frame, None)
                result, _ = self.call_value(entered, Arguments(), frame, manager, {})
                parts.append(result)
            elif isinstance(atom, SeqOf) and atom.kind == "tuple" and atom.items:
                parts.append(join(atom.items))
            else:
                parts.append(Val(frozenset({atom}), value.origins))
        return join(parts)

    # --- names --------------------------------------------------------------------------------------------------------

    def _global(self, e: ir.Global, number: int, frame: Frame) -> Val:
        name = e.name
        file = self.file(frame.path)
        if file is None:
            return unknown("half typed")
        if frame.def_ == 0:
            parent = self._class_piece(file, frame.piece)
            if parent is not None:
                bindings = [b for b in file.members(parent).get(name, ()) if b.piece < frame.piece]
                if bindings:
                    return join(self.binding(frame.path, binding, name) for binding in _effective(bindings))
        return self.lookup(frame.path, name, frame.piece if self._is_module_level(file, frame) else None)

    def _class_piece(self, file: ProjectFile, piece: int) -> int | None:
        parent = file.pieces[piece].parent
        while parent >= 0 and file.pieces[parent].kind == "clause":
            parent = file.pieces[parent].parent
        return parent if parent >= 0 else None

    def _is_module_level(self, file: ProjectFile, frame: Frame) -> bool:
        return frame.def_ == 0 and self._class_piece(file, frame.piece) is None

    def lookup(self, path: Path, name: str, before: int | None = None) -> Val:
        """What the module-level name `name` of `path` may be. `before`: seen from module-level piece `before`."""
        key = (path, name, before)
        known = self._lookups.get(key)
        if known is not None:
            return known
        if key in self._looking:
            return unknown("cycle")
        self._looking.add(key)
        try:
            value = self._lookup(path, name, before)
        finally:
            self._looking.discard(key)
        self._lookups[key] = value
        return value

    def _lookup(self, path: Path, name: str, before: int | None) -> Val:
        file = self.file(path)
        if file is None:
            return unknown("unreadable file")
        bindings = file.names.get(name, [])
        if before is not None:
            bindings = [b for b in bindings if b.piece < before] or bindings
        if bindings:
            live = [b for b in bindings if not b.type_checking]
            if not live:
                return unknown("only imported for type checking")
            value = join(self.binding(path, binding, name) for binding in _effective(live))
            value = growth.filled_by_module(self, file, name, value, before)
            return Val(value.atoms, value.origins | {Origin(ModuleRef(path), (name,), "same")})
        if name == "__file__" or name == "__name__":
            return unknown(name)
        starred = self._from_stars(file, name)
        if starred is not None:
            return starred
        if name in _BUILTINS:
            return lib(f"builtins.{name}")
        return unknown("undefined name")

    def _from_stars(self, file: ProjectFile, name: str) -> Val | None:
        """The name as a star import brings it; Unknown if one of them is out of sight and the name is no builtin."""
        for star in reversed(file.stars):
            module = self.resolve(file.path, star.module, star.level)
            if module is None:
                if name in library.star_names(star.module):
                    return lib(canonical(f"{star.module}.{name}"))
                if name not in _BUILTINS:
                    return unknown("star import")
            elif isinstance(module, ModuleRef) and not name.startswith("_"):
                found = self.module_attribute(module, name)
                if found is not None:
                    return found
        return None

    def binding(self, path: Path, binding: Binding, name: str) -> Val:
        """The value that one binding gives its name."""
        facts = self.facts(path, binding.piece)
        if facts is None:
            return unknown("half typed")
        if binding.step >= 0:
            step = facts.ir.defs[binding.def_].steps[binding.step]
            if not isinstance(step, ir.Bind):
                return unknown("half typed")
            if binding.def_ == 0:
                return self.eval(step.value, self.body(path, binding.piece))
            opened = self.open_frame(FunctionRef(path, binding.piece, binding.def_), None, None)
            return self.eval(step.value, opened) if opened else unknown("half typed")
        for index, one in enumerate(facts.ir.defs):
            if index and one.name == name and one.parent == 0:
                ref = ClassRef if one.kind == "class" else FunctionRef
                return of(ref(path, binding.piece, index))
        return unknown("half typed")

    def module_attribute(self, module: ModuleRef | FolderRef, name: str) -> Val | None:
        """Attribute `name` of a module of the project: a name of it or a submodule; None if there is none."""
        if isinstance(module, ModuleRef):
            file = self.file(module.path)
            if file is not None and name in file.names:
                return self.lookup(module.path, name)
        child = self._interned(imports.submodule(self.files, module, name))
        if child is not None:
            return of(child)
        if isinstance(module, ModuleRef):
            file = self.file(module.path)
            return self._from_stars(file, name) if file else unknown("unreadable file")
        return None

    def module_members(self, module: ModuleRef) -> list[ClassRef | FunctionRef]:
        """The classes and functions that a module of the project defines itself, in source order."""
        file = self.file(module.path)
        found: list[ClassRef | FunctionRef] = []
        for index, _ in file.asking(defined_name, scope=MODULE) if file else ():
            assert file is not None
            piece = file.pieces[index]
            if piece.parent < 0 and piece.kind != "clause":
                ref = ClassRef if piece.kind == "class" else FunctionRef
                found.append(ref(module.path, index, 1))
        return found

    def imported(self, importer: Path, module: str, name: str | None, level: int) -> Val:
        """What an import binds (see `ir.Imported`)."""
        found = self.resolve(importer, module, level)
        if found is None:
            # a module that is missing in a package of the project, not one of a library
            if level or self.resolve(importer, module.partition(".")[0], 0) is not None:
                return unknown("unresolved import")
            return lib(canonical(f"{module}.{name}" if name else module))
        if name is None:
            return of(found)
        value = self.module_attribute(found, name)
        return value if value is not None else unknown("unresolved import")

    def _grown(self, given: Val, number: int, frame: Frame) -> Val:
        """A parameter that is a dict (`**kwargs`) with what the def stores in it."""
        if len(given.atoms) != 1:
            return given
        (atom,) = given.atoms
        if not isinstance(atom, MapOf):
            return given
        return Val(frozenset({growth.with_later_items(self, atom, frame, number)}), given.origins)

    def _parameter(self, e: ir.Param, number: int, frame: Frame) -> Val:
        return self._grown(self._param(e.index, frame), number, frame)

    def _param(self, index: int, frame: Frame) -> Val:
        one = frame.code.one
        if one is None or index >= len(one.params):
            return unknown("half typed")
        given = frame.args[index] if index < len(frame.args) else None
        if given is not None:
            return given
        function = FunctionRef(frame.path, frame.piece, frame.def_, frame.scope)
        return self.default(function, one.params[index])

    def _capture(self, e: ir.Capture, number: int, frame: Frame) -> Val:
        up, name = e.up, e.name
        facts = frame.facts
        if facts is None:
            return unknown("half typed")
        target = frame.def_
        for _ in range(up):
            target = facts.ir.defs[target].parent
        scope = frame.scope
        while scope is not None and scope.def_ != target:
            scope = scope.scope
        if scope is None:
            return unknown("captured out of sight")
        one = facts.ir.defs[target]
        values = [
            self.eval(step.value, scope)
            for _, step in scope.code.steps_of(ir.Bind)
            if step.name == name and step.scope == "local" and step.value != NONE
        ]
        for index, param in enumerate(one.params):
            if param.name == name:
                values.append(self._param(index, scope))
        return join(values) if values else unknown("captured out of sight")

    def _make_def(self, e: ir.MakeDef, number: int, frame: Frame) -> Val:
        index = e.index
        facts = frame.facts
        if facts is None:
            return unknown("half typed")
        scope = frame if frame.def_ != 0 else None
        if facts.ir.defs[index].kind == "class":
            return of(*late.class_choices(self, ClassRef(frame.path, frame.piece, index, scope)))
        return of(FunctionRef(frame.path, frame.piece, index, scope))

    # --- displays -----------------------------------------------------------------------------------------------------

    def _sequence(self, e: ir.Seq, number: int, frame: Frame) -> Val:
        values: list[Val] = []
        for item in e.items:
            value = self.eval(item, frame)
            if isinstance(self.expr(frame, item), ir.Star):
                inner = value.only(SeqOf)
                if len(inner) == 1 and isinstance(inner[0], SeqOf):
                    values.extend(inner[0].items)
                    continue
            values.append(value)
        if e.kind == "list":
            values.extend(growth.appended(self, number, frame))
        if len(values) > 64:
            values = [join(values)]
        return of(SeqOf(e.kind, tuple(values), Site(frame, number)))

    def _map(self, e: ir.Map, number: int, frame: Frame) -> Val:
        names: list[str | None] = []
        items: list[Val] = []
        for key, value in zip(e.keys, e.values, strict=True):
            item = self.eval(value, frame)
            if key == NONE:
                for inner in item.only(MapOf):
                    if isinstance(inner, MapOf):
                        names.extend(inner.keys)
                        items.extend(inner.values)
                continue
            literal = self.eval(key, frame).literal
            names.append(literal.value if literal and isinstance(literal.value, str) else None)
            items.append(item)
        return of(growth.with_later_items(self, MapOf(tuple(names), tuple(items), Site(frame, number)), frame, number))

    def _indexed(self, e: ir.Index, number: int, frame: Frame) -> Val:
        return self._index(self.eval(e.base, frame), e.index, frame, number)

    def _index(self, base: Val, index: int, frame: Frame, number: int) -> Val:
        key = self.eval(index, frame)
        sliced = self.has_slice(index, frame)
        parts: list[Val] = []
        aliases = False
        for atom in base.atoms:
            match atom:
                case SeqOf(_, items) if items:
                    parts.append(library.item_of(items, key, sliced, atom))
                    aliases = True
                case MapOf(keys, values):
                    parts.append(library.entry_of(keys, values, key))
                    aliases = True
                case Instance():
                    parts.append(self._object_item(atom, key, frame, number))
                case LibObject() if late.is_namespace(atom):
                    parts.append(late.named_in(self, key, frame, index))
                case Lib("sys.modules"):
                    parts.append(late.this_module(index, frame, self))
                case LibObject(name, _):
                    inner = library.item_name(name, key, sliced)
                    parts.append(of(LibObject(inner, Site(frame, number))))
                    aliases = aliases or (library.items_alias(name, key) and not library.picks(self, key))
                case Namespace():
                    literal = key.literal
                    option = literal.value if literal else None
                    known = isinstance(option, str)
                    parts.append(self.configured.attribute(atom, str(option)) if known else unknown("config"))
                case Unknown():
                    parts.append(of(atom))
                    aliases = aliases or not library.picks(self, key)
                case _:
                    parts.append(unknown("item"))
        value = join(parts) if parts else unknown("item")
        if not aliases:
            return value
        return Val(value.atoms, value.origins | extended(base.origins, "[]", "view" if sliced else "element"))

    def _object_item(self, inst: Instance, key: Val, frame: Frame, number: int) -> Val:
        """`object[key]`: what its `__getitem__` gives."""
        if self.classes.member(inst.cls, "__getitem__") is None:
            return unknown("library item")
        method = self.attribute(of(inst), "__getitem__", frame, None)
        got, targets = self.call_value(method, Arguments((key,)), frame, number, {})
        _add_targets(frame, number, targets)
        return got

    def has_slice(self, index: int, frame: Frame) -> bool:
        """Whether an index takes a part of a sequence: a slice, an ellipsis or a tuple with a slice."""
        e = self.expr(frame, index)
        if isinstance(e, ir.Slice):
            return True
        if isinstance(e, ir.Seq):
            return any(isinstance(self.expr(frame, item), ir.Slice) for item in e.items)
        return isinstance(e, ir.Const) and e.kind == "ellipsis"

    # --- attributes ---------------------------------------------------------------------------------------------------

    def attribute(self, base: Val, name: str, frame: Frame, number: int | None) -> Val:
        """`base.name`. A property that is read is a call: its frame becomes a target of expression `number`."""
        parts: list[Val] = []
        for atom in base.atoms:
            value, targets = self._attribute(atom, name, frame)
            parts.append(value)
            if targets and number is not None:
                _add_targets(frame, number, targets)
        value = join(parts) if parts else unknown("attribute")
        if not base.origins:
            return value
        if any(isinstance(atom, Method | FunctionRef | ClassRef | LibMember) for atom in value.atoms):
            # a bound method keeps its receiver's origins: `self.data.sort()` must know whose data it sorts
            return Val(value.atoms, value.origins | base.origins)
        relation = "view" if name in VIEW_ATTRIBUTES else "same"
        return Val(value.atoms, value.origins | extended(base.origins, name, relation))

    def _attribute(self, atom: Atom, name: str, frame: Frame) -> tuple[Val, tuple[Frame, ...]]:
        match atom:
            case Lib(owner):
                module = configured.flags_module(atom) if owner.endswith(".FLAGS") else None
                flag = self.configured.flag(module, name) if module else None
                return (flag if flag is not None else _of_library(owner, name)), ()
            case ModuleRef() | FolderRef():
                found = self.module_attribute(atom, name)
                return (found if found is not None else unknown("unresolved import")), ()
            case Instance():
                return self.classes.instance_attribute(atom, name, frame)
            case ClassRef():
                return self.classes.class_attribute(atom, name), ()
            case SuperRef():
                return self.classes.super_attribute(atom, name), ()
            case Namespace():
                return self.configured.attribute(atom, name), ()
            case LibObject():
                found = self.configured.node_attribute(atom, name)
                return (found if found is not None else of(LibMember(atom, name))), ()
            case SeqOf() | MapOf() | LibMember() | Literal_() | PartialOf() | FunctionRef() | Method():
                if isinstance(atom, PartialOf) and name == "func":
                    return of(atom.func), ()
                return of(LibMember(atom, name)), ()
            case Unknown():
                return of(atom), ()
        raise AssertionError(atom)

    # --- calls --------------------------------------------------------------------------------------------------------

    def arguments(self, call: ir.Call, frame: Frame, skip: int = 0) -> Arguments:
        """The arguments of a call, without the first `skip` positional ones."""
        if not call.args:
            return NO_ARGUMENTS
        positional: list[Val] = []
        keywords: list[tuple[str, Val]] = []
        more_positional = more_keywords = False
        for kind, name, number in call.args:
            value = self.eval(number, frame)
            if kind == "pos":
                positional.append(value)
            elif kind == "kw":
                keywords.append((name, value))
            elif kind == "star":
                inner = [atom for atom in value.atoms if isinstance(atom, SeqOf)]
                if len(inner) == 1 and len(value.atoms) == 1:
                    positional.extend(inner[0].items)
                else:
                    more_positional = True
            else:
                maps = [atom for atom in value.only(MapOf) if isinstance(atom, MapOf)]
                keywords.extend(growth.either(maps))
                more_keywords = more_keywords or len(maps) < len(value.atoms) or any(None in one.keys for one in maps)
        return Arguments(tuple(positional[skip:]), tuple(keywords), more_positional, more_keywords)

    def _call(self, call: ir.Call, number: int, frame: Frame) -> Val:
        callee = self.eval(call.func, frame)
        arguments = self.arguments(call, frame)
        func = self.expr(frame, call.func)
        if type(func) is ir.Attr and func.name in configured.PARSE and not callee.only(FunctionRef, Method):
            options = self.configured.parsed_out_of_sight(func.name, frame)
            if options is not None:
                return options
        if any(type(atom) is Unknown and atom.reason in late.CHOSEN for atom in callee.atoms):
            frame.guesses |= {number}
            callee = late.fitting(self, callee, arguments)
        value, targets = self.call_value(callee, arguments, frame, number, {})
        if targets:
            _add_targets(frame, number, targets)
        return value

    def is_guessed(self, frame: Frame) -> bool:
        """Whether a frame runs on an object whose class was found by a name made up at run time."""
        receiver = frame.receiver
        site = receiver.site if isinstance(receiver, Instance) else None
        return site is not None and site.expr in site.frame.guesses

    def is_guess(self, frame: Frame, target: Frame) -> bool:
        """Whether `frame` leads to `target` only through names made up at run time: `getattr(self, name)(...)`, or the
        method of an object whose class was found so."""
        if self.is_guessed(target):
            return True
        ways = [number for number, targets in frame.targets.items() if target in targets]
        return bool(ways) and all(number in frame.guesses for number in ways)

    def call_value(
        self, callee: Val, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
    ) -> tuple[Val, tuple[Frame, ...]]:
        """The result of calling `callee` at expression `number` of `frame`, and the frames that run for it."""
        if len(callee.atoms) == 1:
            (atom,) = callee.atoms
            if seen and atom in seen:
                return unknown("call"), ()
            if type(atom) is Lib and library.is_opaque(atom.name):  # most calls
                return library.call(self, atom.name, callee, arguments, frame, number, seen)
            value, more = self._call_atom(atom, callee, arguments, frame, number, {**seen, atom: True})
            return join((value,)), tuple(dict.fromkeys(more)) if len(more) > 1 else more
        parts: list[Val] = []
        targets: list[Frame] = []
        for atom in callee.ordered():
            if atom in seen:
                continue
            value, more = self._call_atom(atom, callee, arguments, frame, number, {**seen, atom: True})
            parts.append(value)
            targets.extend(more)
        return (join(parts) if parts else unknown("call")), tuple(dict.fromkeys(targets))

    def _call_atom(
        self, atom: Atom, callee: Val, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
    ) -> tuple[Val, tuple[Frame, ...]]:
        match atom:
            case FunctionRef():
                return self._call_function(atom, arguments, frame)
            case Method(function, receiver, owner):
                return self.invoke(function, receiver, owner, arguments, frame)
            case ClassRef():
                made = Instance(atom, Site(frame, number))
                init = self.classes.init_frame(made)
                return of(made), (init,) if init else ()
            case Instance():
                for name in ("__call__", "forward"):
                    if self.classes.member(atom.cls, name) is not None:
                        method = self.attribute(of(atom), name, frame, None)
                        return self.call_value(method, arguments, frame, number, seen)
                return unknown("library call"), ()
            case PartialOf(func, site):
                bound = self._partial_arguments(site)
                return self.call_value(of(func), bound.before(arguments), frame, number, seen)
            case Lib(name):
                return library.call(self, name, callee, arguments, frame, number, seen)
            case LibObject() | LibMember():
                return library.call_object(self, atom, callee, arguments, frame, number, seen)
            case Unknown():
                return of(late.made_late(self, atom, Site(frame, number))), ()
            case SuperRef() | ModuleRef() | FolderRef() | Literal_() | SeqOf() | MapOf() | Namespace():
                return unknown("not callable"), ()
        raise AssertionError(atom)

    def _call_function(
        self, function: FunctionRef, arguments: Arguments, frame: Frame
    ) -> tuple[Val, tuple[Frame, ...]]:
        """Call a function by its own name. `Base.method(self, ...)` runs on the object that is passed first."""
        facts = self.facts(function.path, function.piece)
        if facts is not None and facts.ir.defs[function.def_].name in OPTIONAL_IMPORTERS:
            return library.optional_import(arguments), ()
        file = self.file(function.path)
        parent = self._class_piece(file, function.piece) if file and function.def_ == 1 else None
        first = arguments.positional[0].only(Instance) if parent is not None and arguments.positional else []
        if len(first) != 1 or parent is None or self.decoration(function) == "static":
            return self.invoke(function, None, None, arguments, frame)
        owner = ClassRef(function.path, parent, 1)
        rest = replace(arguments, positional=arguments.positional[1:])
        return self.invoke(function, first[0], owner, rest, frame)

    def _partial_arguments(self, site: Site) -> Arguments:
        call = self.expr(site.frame, site.expr)
        return self.arguments(call, site.frame, skip=1) if isinstance(call, ir.Call) else Arguments()

    def site_arguments(self, site: Site) -> Arguments:
        """The arguments of the call at `site` (the constructor's, for an instance)."""
        call = self.expr(site.frame, site.expr)
        return self.arguments(call, site.frame) if isinstance(call, ir.Call) else Arguments(more_keywords=True)

    def invoke(
        self,
        function: FunctionRef,
        receiver: Atom | None,
        owner: ClassRef | None,
        arguments: Arguments,
        caller: Frame,
    ) -> tuple[Val, tuple[Frame, ...]]:
        """Call a function of the project: its result and its frame. Too deep or recursive: Unknown."""
        facts = self.facts(function.path, function.piece)
        if facts is None:
            return unknown("half typed"), ()
        one = facts.ir.defs[function.def_]
        decoration = self.decoration(function)
        if decoration == "stub":
            return unknown("overload"), ()
        if caller.depth >= MAX_DEPTH:
            return unknown("too deep"), ()
        args = arguments.bind(one.params, of(receiver) if receiver is not None else None)
        frame = self.frame(
            function.path, function.piece, function.def_, receiver, args, function.scope, owner, caller.depth + 1
        )
        if decoration == "unknown":
            return unknown("decorator"), (frame,)
        return self.returned(frame), (frame,)

    def decoration(self, function: FunctionRef) -> str:
        """What decorators make of a function: 'plain', 'property', 'static', 'class', 'manager', 'stub' or
        'unknown'."""
        facts = self.facts(function.path, function.piece)
        if facts is None:
            return "unknown"
        answer = "plain"
        for decorator in facts.ir.defs[function.def_].decorators:
            name = self._decorator_name(facts, decorator, function)
            if name in PROPERTY_DECORATORS or name.endswith((".setter", ".getter")):
                answer = "property"
            elif name == "builtins.staticmethod":
                answer = "static"
            elif name == "builtins.classmethod":
                answer = "class"
            elif name == "contextlib.contextmanager":
                answer = "manager"
            elif name in STUB_DECORATORS:
                return "stub"
            elif name not in TRANSPARENT_DECORATORS:
                return "unknown"
        return answer

    def _decorator_name(self, facts: PieceFacts, decorator: int, function: FunctionRef) -> str:
        e = facts.ir.exprs[decorator]
        if isinstance(e, ir.Call):
            decorator = e.func
            e = facts.ir.exprs[decorator]
        if isinstance(e, ir.Attr) and e.name in ("setter", "getter", "deleter"):
            return f".{e.name}"
        value = self.eval(decorator, self._defining(function))
        libs = [atom.name for atom in value.atoms if isinstance(atom, Lib)]
        return libs[0] if len(libs) == 1 and len(value.atoms) == 1 else ""

    def returned(self, frame: Frame) -> Val:
        """What a call that runs `frame` gives."""
        known = self._returns.get(frame)
        if known is not None:
            return known
        one = self.def_of(frame)
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
            self.eval(step.value, frame)
            for _, step in frame.code.steps_of(ir.YieldStep)
            if not step.is_from and not (step.context and self.is_dead(step.context, frame))
        ]
        if one.is_generator:
            function = FunctionRef(frame.path, frame.piece, frame.def_, frame.scope)
            if self.decoration(function) == "manager":
                return join(yields) if yields else unknown("generator")
            return of(
                SeqOf("list", (join(yields),) if yields else ()), LibObject("builtins.generator", Site(frame, -2))
            )
        values = [
            self.eval(step.value, frame)
            for _, step in frame.code.steps_of(ir.Return)
            if not (step.context and self.is_dead(step.context, frame))
        ]
        if one.falls_through or not values:
            values.append(NONE_VALUE)
        return join(values)

    # --- truth --------------------------------------------------------------------------------------------------------

    def is_dead(self, context: int, frame: Frame) -> bool:
        """Whether the steps of a context never run in this frame, as its constants show."""
        if context <= 0:
            return False
        known = frame.dead.get(context)
        if known is not None:
            return known
        one = self.def_of(frame)
        if one is None or context >= len(one.contexts):
            return False
        frame.dead[context] = False
        here = one.contexts[context]
        dead = self.is_dead(here.parent, frame)
        if not dead and here.kind == "if" and here.expr != NONE:
            dead = self.truth(here.expr, frame) is here.negated
        frame.dead[context] = dead
        return dead

    def truth(self, number: int, frame: Frame) -> bool | None:
        """Whether a test is always true or always false here; None if it may be either."""
        e = self.expr(frame, number)
        match e:
            case ir.Unary("not", operand):
                inner = self.truth(operand, frame)
                return None if inner is None else not inner
            case ir.BoolOp(op, left, right):
                decisive = op == "or"
                first = self.truth(left, frame)
                if first is decisive:
                    return decisive
                second = self.truth(right, frame)
                return second if second is decisive or first is not None else None
            case ir.Compare(left, (op,), (right,)):
                by = self.eval(right, frame) if op in library.COMPARED else None  # most often a constant
                if by is None or not library.is_telling(op, by):
                    return None
                return library.compare(op, self.eval(left, frame), by)
            case ir.Global("TYPE_CHECKING") | ir.Attr(_, "TYPE_CHECKING"):
                return False
            case ir.Call(func, _) if self._is_opaque(func, frame):
                return None
            case ir.Global() | ir.Param() | ir.Attr() | ir.Capture() | ir.Const() | ir.Phi() | ir.Call():
                return library.truth(self.eval(number, frame))
        return None

    def _is_opaque(self, func: int, frame: Frame) -> bool:
        """Whether a call's outcome cannot be known from its arguments: they need not be looked into."""
        atoms = self.eval(func, frame).atoms
        return all(type(atom) is Lib and library.is_opaque(atom.name) for atom in atoms)

    def live(self, choices: tuple[int, ...], frame: Frame) -> tuple[int, ...]:
        """The choices of a `Phi` that may reach its reader: neither those bound only in branches that never run, nor
        those that a branch which always runs replaces. Loops are not looked into: what they bind goes round."""
        one = self.def_of(frame)
        if one is None or len(one.contexts) == 1:
            return choices
        bound = self._bound(one, choices, frame)
        alive = [
            choice
            for choice in choices
            if not bound.get(choice)
            or not all(self._is_lost(bind, choice, bound, one, frame) for bind in bound[choice])
        ]
        return tuple(alive) or choices

    def _bound(self, one: ir.DefIR, choices: tuple[int, ...], frame: Frame) -> dict[int, list[tuple[int, int]]]:
        """Where each of the choices is bound: the step's number and its context; a parameter before all steps."""
        known = frame.code.bound.get(choices)
        if known is not None:
            return known
        bindings = frame.code.bindings
        binds = sorted(bind for choice in set(choices) for bind in bindings.get(choice, ()))
        named: dict[str, set[int]] = {}
        for _, step in binds:
            named.setdefault(step.name, set()).add(step.value)
        most = max(map(len, named.values()), default=0)
        names = {name for name, values in named.items() if len(values) == most}
        found: dict[int, list[tuple[int, int]]] = {}
        for number, step in binds:
            if step.name in names:
                found.setdefault(step.value, []).append((number, step.context))
        for choice in choices:
            if choice not in found and isinstance(self.expr(frame, choice), ir.Param):
                found[choice] = [(-1, 0)]
        frame.code.bound[choices] = found
        return found

    def _is_lost(
        self,
        bind: tuple[int, int],
        choice: int,
        bound: dict[int, list[tuple[int, int]]],
        one: ir.DefIR,
        frame: Frame,
    ) -> bool:
        number, context = bind
        if not frame.code.is_branch(context):
            return False
        if context and self.is_dead(context, frame):
            return True
        later = [at for other, places in bound.items() if other != choice for at in places if at[0] > number]
        return any(self._always_follows(at[1], context, one, frame) for at in later)

    def _always_follows(self, context: int, before: int, one: ir.DefIR, frame: Frame) -> bool:
        """Whether a branch runs whenever the context `before` does, which is not in it: only tests that always hold lie
        between."""
        start = context
        while not one.is_within(before, context):
            here = one.contexts[context]
            if here.kind != "if" or here.expr == NONE or self.truth(here.expr, frame) is not (not here.negated):
                return False
            context = here.parent
        return context != start

    # --- walking ------------------------------------------------------------------------------------------------------

    def run(self, frame: Frame) -> Iterator[Frame]:
        """Evaluate every step of a frame that can run; the frames that its calls and property reads lead to."""
        one = self.def_of(frame)
        if one is None:
            return
        seen: dict[Frame, None] = {}
        for context, numbers, gone_through in frame.code.evaluated:
            if context > 0 and self.is_dead(context, frame):
                continue
            for number in numbers:
                self.eval(number, frame)
            if gone_through != NONE:
                library.element(self, self.eval(gone_through, frame), frame, gone_through)
        for number, targets in frame.targets.items():
            if not self._expression_is_dead(number, frame):
                seen.update(dict.fromkeys(targets))
        yield from seen

    def _expression_is_dead(self, number: int, frame: Frame) -> bool:
        contexts = frame.code.contexts_of(number)
        return bool(contexts) and all(self.is_dead(context, frame) for context in contexts)


#: What each kind of expression is, by its class.
_MEANINGS: dict[type, Callable[[Evaluator, Any, int, Frame], Val]] = {
    ir.Param: Evaluator._parameter,
    ir.Capture: Evaluator._capture,
    ir.Global: Evaluator._global,
    ir.Imported: Evaluator._imported,
    ir.Attr: Evaluator._attr,
    ir.Index: Evaluator._indexed,
    ir.Slice: Evaluator._slice,
    ir.Call: Evaluator._call,
    ir.Bin: Evaluator._binary,
    ir.Unary: Evaluator._unary,
    ir.Compare: Evaluator._compared,
    ir.BoolOp: Evaluator._either,
    ir.IfExp: Evaluator._if_expression,
    ir.Seq: Evaluator._sequence,
    ir.Map: Evaluator._map,
    ir.Comp: Evaluator._comprehension,
    ir.MakeDef: Evaluator._make_def,
    ir.Text: Evaluator._text,
    ir.Star: Evaluator._inner,
    ir.Await: Evaluator._inner,
    ir.Yield: Evaluator._sent,
    ir.Element: Evaluator._element,
    ir.Unpack: Evaluator._unpack,
    ir.Entered: Evaluator._entered,
    ir.Caught: Evaluator._caught,
    ir.Augmented: Evaluator._augmented,
    ir.Phi: Evaluator._phi,
    ir.Opaque: Evaluator._opaque,
}


def _open_default(value: Val) -> Val:
    """A parameter's default where callers are out of sight: a number, text or flag is what it normally is."""
    literal = value.literal
    if literal is None or literal.value is None:
        return join((value, unknown("parameter")))
    return of(Literal_(literal.kind, literal.value, literal.configured or "default"))


@lru_cache(maxsize=4096)
def _of_library(owner: str, name: str) -> Val:
    """Attribute `name` of what the library calls `owner`."""
    return lib(canonical(f"{owner}.{name}"))


def _effective(bindings: list[Binding]) -> list[Binding]:
    """The bindings that can hold at the end: the last sure one and the conditional ones after it."""
    start = 0
    for index, binding in enumerate(bindings):
        if not binding.conditional:
            start = index
    return bindings[start:]


def _add_targets(frame: Frame, number: int, targets: tuple[Frame, ...]) -> None:
    if targets:
        frame.targets[number] = tuple(dict.fromkeys((*frame.targets.get(number, ()), *targets)))
