"""The calls that may create a loader, judging by the surrounding def.

Most calls in a file that names a loader cannot make one: `Dense(3)(x)` calls an object, `Model(...)` another class.
They are ruled out here, because it is expensive to find the callers of the code around a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.wrappers import LOADERS
from loaderlint.project.evaluation import library_calls
from loaderlint.project.evaluation.call_sites import CallSite, sites_in
from loaderlint.project.evaluation.callees import asks_self
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import Atom, ClassRef, FunctionRef, Instance, Lib, PartialOf, Val
from loaderlint.project.loaders import escape, installed_loaders
from loaderlint.project.loaders.copied_loader import copied_kind
from loaderlint.project.modules.project_files import ProjectFile

#: A pattern, and words of which each matching text contains at least one. Most texts contain none.
Wanted = tuple[re.Pattern[str], str]

_WORD = re.compile(r"\w+")
#: What a call of a library that makes loaders may be given, without the word.
_WORKERS = "num_workers"
_RENAMED = re.compile(r"(\w+)\s+as\s+(\w+)")
_NAMED = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(?:\w+\.)*(\w+)\b(?!\s*[(.])", re.MULTILINE)
_BOUND = re.compile(r"^(\w+)[ \t]*=[ \t]*[\w.]*\bpartial\(\s*(?:\w+\.)*(\w+)\b", re.MULTILINE)
#: A call of a parameter that is a loader class, or the choice of a loader class by its name.
_LOADER_VALUE = re.compile(r"[Ll]oader_?(?:cls|class|type|fn|factory)\w*\(|getattr\(\s*[\w.]*[Ll]oader")
#: A call of an object that is looked up by a name known only at run time: `getattr(module, kind)(...)`.
_LOOKED_UP = re.compile(r"\bgetattr\((?:[^()]|\([^()]*\))*\)\s*\(")
#: An item of something that holds loader classes: `LOADERS[kind]`, `loader_types.get(kind)`.
_LOADER_ITEM = re.compile(
    r"(?:\b[A-Z_]*LOADER[A-Z_]*|[Ll]oader_?(?:classes|cls|types?|map|dict|registry|factories))\s*(?:\[|\.get\()"
)
_COMPUTED = (ir.IfExp, ir.Phi, ir.Call, ir.Param, ir.Index)
#: Expressions that never evaluate to a class.
_NO_CLASSES = (ir.Const, ir.Text, ir.Seq, ir.Map, ir.Comp, ir.Slice, ir.Compare, ir.Bin, ir.Unary)


class Candidates:
    """Finds the calls of one snapshot that may make a loader."""

    def __init__(self, evaluator: Evaluator, callers: Callers) -> None:
        self._ev = evaluator
        self._callers = callers
        self._handed: bool | None = None
        self._has_own = False
        self._names: dict[Path, tuple[frozenset[str], frozenset[int]]] = {}
        self._words = {name.rpartition(".")[2] for name in LOADERS if self._may_be_used(name)}
        self._add_subclasses()
        self._wanted = any_of(self._words)

    def _may_be_used(self, name: str) -> bool:
        """Whether the project may use a loader. One without 'loader' in its name counts only if the project names its
        library."""
        return "oader" in name.rpartition(".")[2] or bool(self._ev.files.containing(name.partition(".")[0]))

    def find(self) -> Iterator[CallSite]:
        """The calls, in the order of files and places."""
        naming = frozenset(self._paths())
        for path in sorted({*naming, *self._ev.files.containing(_WORKERS)}):
            if path in naming:
                names, named = self._named_in(path)
                yield from (site for site in self._in_file(path, names, named) if self._may_make(site, names))
            for site in installed_loaders.calls_of_libraries(self._ev, path):
                if self._is_of_library(site):
                    yield site

    # --- what they are called -----------------------------------------------------------------------------------------

    def _paths(self) -> tuple[Path, ...]:
        """The files that may make a loader."""
        words = {"oader", *(word for word in self._words if "oader" not in word)}
        words |= {"getattr("} if self._has_own else set()
        return tuple(sorted({path for word in sorted(words) for path in self._ev.files.containing(word)}))

    def _add_subclasses(self) -> None:
        """Add the names of the project's own loader classes, and of loaders with bound arguments."""
        named = {}
        own = False
        for _ in range(2):
            for path in self._paths():
                if path not in named:
                    named[path] = tuple(self._naming(path))
                for index, head, bound in named[path]:
                    if head and head[0] not in self._words and self._may_derive(path, index, *head):
                        self._words.add(head[0])
                        own = True
                    self._words.update(alias for alias, name in bound if name in self._words)
        self._has_own = own

    def _naming(self, path: Path) -> Iterator[tuple[int, tuple[str, str] | None, tuple[tuple[str, str], ...]]]:
        """For each piece that has any: the head of its class with bases, and its names with bound arguments."""
        file = self._ev.file(path)
        for index, found in file.asking(_names_given) if file else ():
            if found is not None:
                yield index, *found

    def _may_derive(self, path: Path, piece: int, name: str, bases: str) -> bool:
        """Whether a class with these bases may be a loader. A class of the project may share its name with a class of
        a library: keras has a `Trainer`."""
        if self._words.isdisjoint(_WORD.findall(bases)):
            return False
        facts = self._ev.facts(path, piece)
        first = facts.ir.defs[1] if facts and len(facts.ir.defs) > 1 else None
        in_function = first is None or first.kind != "class" or first.name != name
        return in_function or is_loader(self._ev, ClassRef(path, piece, 1))

    # --- where they are written ---------------------------------------------------------------------------------------

    def _named_in(self, path: Path) -> tuple[frozenset[str], frozenset[int]]:
        """The names of loaders in a file, and the pieces that name one."""
        if path not in self._names:
            file = self._ev.file(path)
            named = {index for index, _ in file.asking(matches, *self._wanted)} if file else set()
            names = frozenset(self._words | self._aliases(file, named)) if file else frozenset()
            if file and len(names) > len(self._words):
                named = {index for index, _ in file.asking(matches, *any_of(names))}
            self._names[path] = names, frozenset(named)
        return self._names[path]

    def _in_file(self, path: Path, names: frozenset[str], named: frozenset[int]) -> Iterator[CallSite]:
        file = self._ev.file(path)
        if file is None:
            return
        chosen = [(_LOADER_VALUE, "oader"), (_LOADER_ITEM, "oader OADER")]
        chosen += [(_LOOKED_UP, "getattr(")] if self._has_own else []
        computed = {index for wanted in chosen for index, _ in file.asking(matches, *wanted)}
        for index in sorted(named | computed):
            if index in named:
                yield from sites_in(self._ev, path, index, names)
            yield from self._computed(path, index)

    def _computed(self, path: Path, piece: int) -> Iterator[CallSite]:
        """Calls whose callee is a local value or a parameter: `cls = DataLoader if a else Other; cls(...)`."""
        facts = self._ev.facts(path, piece)
        for def_, one in enumerate(facts.ir.defs if facts else ()):
            for step in one.steps:
                if facts is None or not isinstance(step, ir.Perform):
                    continue
                call = facts.ir.exprs[step.call]
                if isinstance(call, ir.Call) and isinstance(facts.ir.exprs[call.func], _COMPUTED):
                    yield CallSite(path, piece, def_, step.call, step.context)

    def _aliases(self, file: ProjectFile, named: Iterable[int]) -> set[str]:
        """Other names of loader classes, from the pieces of the file that name one: `import DataLoader as DL`,
        `make = DataLoader`."""
        found: set[str] = set()
        for index in named:
            found.update(alias for name, alias in file.pieces[index].ask(_renamed) if name in self._words)
        return found

    # --- what they call -----------------------------------------------------------------------------------------------

    def _is_of_library(self, site: CallSite) -> bool:
        """Whether the callee, as it is written, is a loader of a library or a library function that makes one."""
        facts = self._ev.facts(site.path, site.piece)
        call = facts.ir.exprs[site.expr] if facts else None
        if facts is None or not isinstance(call, ir.Call):
            return False
        here = Unframed(self._ev, site.path, site.piece, site.def_, facts)
        value = here.value(call.func)
        called = value.atoms if value is not None else self._methods(call.func, here, facts, site)
        return any(self._makes(atom) or installed_loaders.may_make(self._ev, atom) for atom in called)

    def _methods(self, func: int, here: Unframed, facts: PieceFacts, site: CallSite) -> Iterator[FunctionRef]:
        """The functions that `func` may be if it is a method of an object that the def itself makes, or that an
        attribute of its own object holds."""
        e = facts.ir.exprs[func]
        if not isinstance(e, ir.Attr):
            return
        for one in self._classes_of(e.base, here, facts, site):
            member = self._ev.classes.member(one, e.name)
            if member is not None and member.function is not None:
                yield member.function

    def _classes_of(self, number: int, here: Unframed, facts: PieceFacts, site: CallSite) -> Iterable[ClassRef]:
        """The classes of what a call of a class makes, or of what `self.name` holds."""
        made = facts.ir.exprs[number]
        if isinstance(made, ir.Call):
            cls = here.value(made.func)
            return cls.only(ClassRef) if cls is not None else ()
        if not isinstance(made, ir.Attr) or not ir.is_self(facts.ir.exprs[made.base]):
            return ()
        owner = self._callers.owner(site.path, site.piece, site.def_, facts)
        held = self._ev.classes.field(Instance(owner, None), made.name) if owner is not None else None
        return [one.cls for one in held.only(Instance)] if held is not None else ()

    def _may_make(self, site: CallSite, names: frozenset[str]) -> bool:
        """Whether a call makes a loader for some caller of the code around it. `names`: the names of loaders."""
        facts = self._ev.facts(site.path, site.piece)
        call = facts.ir.exprs[site.expr] if facts else None
        if facts is None or not isinstance(call, ir.Call):
            return False
        here = Unframed(self._ev, site.path, site.piece, site.def_, facts)
        undecided = False
        waiting, seen = [call.func], {NONE}
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            value = here.value(number)
            if value is not None:
                if self._is_loader(value):
                    return True
                continue
            match facts.ir.exprs[number]:
                case ir.Phi(choices):
                    waiting += choices
                case ir.IfExp(_, left, right) | ir.BoolOp(_, left, right):
                    waiting += (left, right)
                case ir.Param(0) if self._is_class_method(site):
                    if self._is_made_by_class_method(site, facts):
                        return True
                case ir.Call(_, args) as inner if escape.attribute_named(inner, here, facts):
                    undecided = undecided or escape.attribute_named(inner, here, facts) in names
                    waiting += (arg.value for arg in args[2:])
                case ir.Call(func, _):
                    undecided = undecided or self._may_give_class(here, func)
                case e:
                    undecided = undecided or not isinstance(e, _NO_CLASSES)
        return undecided and self._may_make_for_some(site, call.func, facts, names)

    def _may_make_for_some(self, site: CallSite, func: int, facts: PieceFacts, names: frozenset[str]) -> bool:
        """Whether a call whose callee `func` depends on the callers of its def makes a loader for one of them: the
        callee may be a loader, or it is not known and the project passes loader classes on."""
        here = Unframed(self._ev, site.path, site.piece, site.def_, facts)
        if site.def_ == 0 or self._is_one(escape.in_value(func, facts, names, here), here):
            return True
        # the frame for unknown callers binds `cls` to an object, not to a class
        on_class = self._is_class_method(site) and asks_self(site.expr, facts)
        vague = on_class or escape.depends_on_default(func, site.def_, facts)
        callees = None if vague else self._callers.callees(site)
        return self._are_handed() if callees is None else any(self._makes(atom) for atom in callees)

    def _is_class_method(self, site: CallSite) -> bool:
        return self._ev.functions.decoration(FunctionRef(site.path, site.piece, site.def_)) == "class"

    def _is_made_by_class_method(self, site: CallSite, facts: PieceFacts) -> bool:
        """Whether `cls(...)` in a class method may make a loader: its class or a subclass is one."""
        owner = self._callers.owner(site.path, site.piece, site.def_, facts)
        if owner is None or facts.ir.defs[site.def_].parent > 0:
            return True
        return any(is_loader(self._ev, cls) for cls in (owner, *self._callers.subclasses(owner)))

    def _are_handed(self) -> bool:
        """Whether a loader class may be a parameter, an attribute or the result of a function: the project defines
        loader classes, which can also be found through their modules, or it does more with one than call it."""
        if self._handed is None:
            self._handed = any(self._hands(path) for path in self._paths())
        return self._handed

    def _hands(self, path: Path) -> bool:
        names, named = self._named_in(path)
        for index in sorted(named):
            facts = self._ev.facts(path, index)
            if facts is not None and self._hands_in(path, index, facts, names):
                return True
        return False

    def _hands_in(self, path: Path, piece: int, facts: PieceFacts, names: frozenset[str]) -> bool:
        for def_, one in enumerate(facts.ir.defs):
            if one.kind == "class" and is_loader(self._ev, ClassRef(path, piece, def_)):
                return True
            here = Unframed(self._ev, path, piece, def_, facts)
            if self._is_one(escape.in_def(def_, facts, names, here), here):
                return True
        return False

    def _is_one(self, numbers: Iterable[int], here: Unframed) -> bool:
        """Whether one of these expressions may be a loader class. A text that names one counts."""
        for number in numbers:
            value = here.value(number)
            if value is None or self._is_loader(value):
                return True
        return False

    def _is_loader(self, value: Val) -> bool:
        return any(self._makes(atom) for atom in value.atoms)

    def _makes(self, atom: Atom) -> bool:
        """Whether calling an atom creates a loader."""
        match atom:
            case Lib(name) | PartialOf(Lib(name), _):
                return name in LOADERS
            case ClassRef():
                return is_loader(self._ev, atom)
        return False

    def _may_give_class(self, here: Unframed, func: int) -> bool:
        """Whether a call of expression `func` may return a class. A call of a class returns an object."""
        callee = here.value(func)
        return callee is None or any(_may_give_class(atom) for atom in callee.atoms)


def _may_give_class(atom: Atom) -> bool:
    if isinstance(atom, Lib):
        return not library_calls.is_opaque(atom.name)
    return not isinstance(atom, ClassRef)


def is_loader(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a class of the project derives from a loader of a library, or is a copy of torch's."""
    return any(name in LOADERS for name in ev.classes.library_bases(cls)) or copied_kind(ev, cls) is not None


def any_of(names: Iterable[str]) -> Wanted:
    """The pattern that finds one of the names as a word."""
    parts = {"oader" if "oader" in name else name for name in names}
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b"), " ".join(sorted(parts))


def matches(text: str, pattern: re.Pattern[str], parts: str) -> bool:
    """Whether a text matches the pattern. It is searched only if it contains one of the words `parts`."""
    return any(part in text for part in parts.split()) and pattern.search(text) is not None


def _names_given(text: str) -> tuple[tuple[str, str] | None, tuple[tuple[str, str], ...]] | None:
    """The possible loaders that a text defines: a class with bases, and names with bound arguments."""
    head, bound = installed_loaders.class_head(text), _bound(text)
    return (head, bound) if head or bound else None


def _renamed(text: str) -> tuple[tuple[str, str], ...]:
    """The names and aliases of each `x as y` and `y = x`."""
    found = _RENAMED.findall(text) if "as" in text else []
    return (*found, *((name, alias) for alias, name in _NAMED.findall(text)))


def _bound(text: str) -> tuple[tuple[str, str], ...]:
    """The names of a module's `name = partial(x, ...)`, each with the name of `x`."""
    return tuple(_BOUND.findall(text)) if "partial(" in text else ()
