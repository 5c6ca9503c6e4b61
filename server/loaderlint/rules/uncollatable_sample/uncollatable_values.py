"""What a value is that torch's `default_collate` cannot batch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.collation import (
    IMAGE_DATASETS,
    IMAGE_FUNCTIONS,
    IMAGE_MAKERS,
    IMAGE_METHODS,
    IMAGE_TRANSFORMS,
    OTHERS,
    PLAIN_BASES,
)
from loaderlint.knowledge.value_types import is_made, is_path
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.later_attributes import set_on
from loaderlint.project.evaluation.values import Atom, ClassRef, Instance, Lib, LibMember, LibObject, MapOf, SeqOf, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.array_flow import pipeline_steps
from loaderlint.rules.shared.pickled_to_workers import is_local
from loaderlint.rules.uncollatable_sample.item_stores import Given, ItemStore, ItemStores, Key

#: What a value is, in words: 'a Pillow image'.
Kind: TypeAlias = str
IMAGE: Kind = "a Pillow image"
PATH: Kind = "a `Path`"
SET: Kind = "a set"

_MAX_LEVELS = 8
_SETS_TRANSFORM = re.compile(r"(?<!\bself)\.transforms?\s*=[^=]")
#: The attributes of a torchvision dataset that it calls for each sample.
_TRANSFORMS = ("transform", "transforms")


class Uncollatable:
    """Asked once for each model: `model.once(Uncollatable)`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._ev = model.ev
        self._classes: dict[ClassRef, bool] = {}
        self._asked: set[ItemStore] = set()
        self._followed: set[LibObject] = set()
        self._is_set_somewhere: bool | None = None

    def of(self, number: int, frame: Frame, given: Given, depth: int = 0) -> Kind | None:
        """What expression `number` of a frame is or holds that cannot be batched, whichever way the code takes to the
        step that gives the sample; None if there is nothing, or if that is not known."""
        if depth > _MAX_LEVELS or number == NONE:
            return None
        value, e = self._ev.eval(number, frame), self._ev.expr(frame, number)
        if value.unknown is None:
            kind = self._of_value(value, given, depth)
            return None if kind is None or self._is_replaced_item(e, frame, given, depth) else kind
        match e:
            case ir.Phi(choices):
                kinds = [self.of(one, frame, given, depth + 1) for one in self._ev.liveness.live(choices, frame)]
                return kinds[0] if kinds and None not in kinds else None
            case ir.Call(_, args) as call if args and args[0].kind == "pos" and self._keeps_images(call, frame):
                return IMAGE if self.of(args[0].value, frame, given, depth + 1) == IMAGE else None
        return None

    def gives_images(self, dataset: LibObject) -> bool:
        """Whether a dataset of torchvision gives Pillow images: it gets no transform, or one that keeps them so."""
        if dataset.name not in IMAGE_DATASETS:
            return False
        given = self._ev.calls.site_arguments(dataset.site)
        if given.more_positional or any(value.literal is None for value in given.positional[1:]):
            return False  # one of them may be the transform
        if any(not _is_none(given.get(name)) for name in (*_TRANSFORMS, "loader")):
            return False
        if any(not value.is_none for name in _TRANSFORMS for value in set_on(self._ev, dataset, name)):
            return False
        file = self._model.files.file(dataset.site.frame.path)
        return file is not None and not any(file.asking(_may_replace_transform))

    def may_get_transform(self) -> bool:
        """Whether some code of the project gives an object another transform. Nobody knows if it is a dataset in
        question: the code may have got it in many ways."""
        if self._is_set_somewhere is None:
            files = (self._model.files.file(path) for path in self._model.files.containing(".transform"))
            self._is_set_somewhere = any(file is not None and any(file.asking(_replaces_transform)) for file in files)
        return self._is_set_somewhere

    def is_changed(self, container: int, key: Key, given: Given) -> bool:
        """Whether the item that a list or dict display has under a key may be replaced by something that may be
        batched, or removed, before the sample is given."""
        containers = self._ev.eval(container, given.frame).only(SeqOf, MapOf)
        return any(self._is_changed(atom, key, given, 0) for atom in containers)

    def _of_value(self, value: Val, given: Given, depth: int) -> Kind | None:
        kinds = [self._of_atom(atom, given, depth) for atom in value.ordered()]
        return kinds[0] if kinds and None not in kinds else None

    def _of_atom(self, atom: Atom, given: Given, depth: int) -> Kind | None:
        match atom:
            case SeqOf("set", _, _):
                return SET
            case SeqOf() | MapOf() if depth < _MAX_LEVELS:
                return next(self._of_items(atom, given, depth + 1), None)
            case Instance(cls, _) if self._is_plain(cls):
                return f"an object of `{self._ev.classes.name(cls)}`"
            case LibMember(LibObject() as owner, "parent") if self._of_object(owner, given, depth) == PATH:
                return PATH
            case LibObject():
                return self._of_object(atom, given, depth)
        return None

    def _of_items(self, atom: SeqOf | MapOf, given: Given, depth: int) -> Iterator[Kind]:
        """What the items of a container are that cannot be batched, without those that are replaced or removed."""
        items = zip(atom.keys, atom.values, strict=True) if isinstance(atom, MapOf) else enumerate(atom.items)
        for key, item in items:
            kind = self._of_value(item, given, depth)
            if kind is not None and not self._is_changed(atom, key, given, depth):
                yield kind

    def _is_replaced_item(self, e: ir.Expr | None, frame: Frame, given: Given, depth: int) -> bool:
        """Whether an expression reads an item of a container that something else may have replaced."""
        match e:
            case ir.Index(base, index):
                literal = self._ev.eval(index, frame).literal
                key = literal.value if literal is not None and isinstance(literal.value, str | int) else None
            case ir.Unpack(base, place, False):
                key = place
            case ir.Element(base):
                key = None
            case _:
                return False
        containers = self._ev.eval(base, frame).only(SeqOf, MapOf)
        return any(self._is_replaced(atom, key, given, depth + 1) for atom in containers)

    def _is_changed(self, atom: SeqOf | MapOf, key: Key, given: Given, depth: int) -> bool:
        stores = self._model.once(ItemStores)
        if stores.may_lack(atom, key, given) or self._is_replaced(atom, key, given, depth):
            return True
        copied = stores.copied_by(atom) if depth < _MAX_LEVELS else ()
        return any(self._is_changed(one, key, given, depth + 1) for one in copied)

    def _is_replaced(self, atom: SeqOf | MapOf, key: Key, given: Given, depth: int) -> bool:
        """Whether something that may be batched may be stored under a key of a container in place of the item that the
        evaluator knows."""
        for store in self._model.once(ItemStores).into(atom, key):
            if store in self._asked:
                continue  # `images[0] = resize(images[0])`: the item before it
            self._asked.add(store)
            try:
                if self.of(store.value, store.frame, given, depth + 1) is None:
                    return True
            finally:
                self._asked.remove(store)
        return False

    def _of_object(self, atom: LibObject, given: Given, depth: int) -> Kind | None:
        if atom.name in OTHERS:
            return OTHERS[atom.name]
        if is_made(atom.name, IMAGE_MAKERS, IMAGE_METHODS):
            return IMAGE
        if is_path(atom.name):
            return PATH
        call = self._ev.expr(atom.site.frame, atom.site.expr)
        if atom.name in IMAGE_FUNCTIONS and isinstance(call, ir.Call) and call.args:
            return self._of_changed_image(atom, call.args[0].value, given, depth)
        return None

    def _of_changed_image(self, atom: LibObject, image: int, given: Given, depth: int) -> Kind | None:
        """What a function of torchvision makes of an image. In `images[0] = rotate(images[0], 90)` that is what the
        item was before."""
        if atom in self._followed:
            return IMAGE
        self._followed.add(atom)
        try:
            return IMAGE if self.of(image, atom.site.frame, given, depth + 1) == IMAGE else None
        finally:
            self._followed.remove(atom)

    def _keeps_images(self, call: ir.Call, frame: Frame) -> bool:
        """Whether a call is one of a transform, or of a pipeline of transforms, that gives an image for an image."""
        transforms = self._ev.eval(call.func, frame).atoms
        if transforms and all(isinstance(one, LibObject) and one.name in IMAGE_TRANSFORMS for one in transforms):
            return True
        steps = pipeline_steps(call, frame, self._ev)
        return bool(steps) and all(
            step and all(isinstance(one, LibObject) and one.name in IMAGE_TRANSFORMS for one in step) for step in steps
        )

    def _is_plain(self, cls: ClassRef) -> bool:
        """Whether objects of a class are no tensors, numbers, texts, mappings or sequences: all of its ancestors are in
        sight. Of classes inside functions unpicklable-sample speaks."""
        known = self._classes.get(cls)
        if known is None:
            known = self._classes[cls] = not is_local(cls, self._model) and all(
                isinstance(one, ClassRef) or (isinstance(one, Lib) and one.name in PLAIN_BASES)
                for one in self._ev.classes.mro(cls)
            )
        return known


def _is_none(value: Val | None) -> bool:
    return value is None or value.is_none


def _replaces_transform(text: str) -> bool:
    """Whether a piece gives an object another transform: `train.dataset.transform = ...`."""
    return _SETS_TRANSFORM.search(text) is not None


def _may_replace_transform(text: str) -> bool:
    """Whether a piece gives an object another transform, perhaps by a computed name."""
    return "setattr(" in text or _replaces_transform(text)
