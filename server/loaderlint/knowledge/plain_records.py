"""Records: what gives plain lists and dictionaries, and what edits them."""

from __future__ import annotations

#: What reads a text of lists and dictionaries that hold each other, strings and numbers: no array is among them.
TEXT_LOADERS = frozenset(
    """
    json.load json.loads simplejson.load simplejson.loads ujson.load ujson.loads orjson.loads yaml.safe_load yaml.load
    toml.load tomllib.load
    """.split()
)

#: Those of them that never make anything else: a text for `yaml.load` may name classes.
TEXT_READERS = TEXT_LOADERS - {"yaml.load"}

#: What gives lists and dictionaries that hold each other and nothing else.
PLAIN_LOADERS = TEXT_LOADERS | frozenset(
    """
    pickle.load pickle.loads mmcv.load mmengine.load builtins.dict builtins.list collections.defaultdict
    collections.OrderedDict copy.deepcopy csv.DictReader
    """.split()
)

#: Methods that make a container longer, and shorter.
GROWING_METHODS = frozenset("append extend insert appendleft extendleft".split())
SHRINKING_METHODS = frozenset("pop popitem popleft remove".split())

#: Functions that join paths: done again, the result is longer, unless the folder is absolute.
JOINS = frozenset("os.path.join posixpath.join ntpath.join".split())

_TYPING = ("typing", "typing_extensions")


def _of_typing(names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module in _TYPING for name in names.split())


#: Classes, as an annotation names them, of whose objects `copy.deepcopy` always gives an equal one that shares nothing
#: which can be changed. A tensor is none of them: that of a result with gradients raises.
PLAIN_CLASSES = (
    frozenset(f"builtins.{name}" for name in "str int float bool complex bytes bytearray".split())
    | frozenset(f"numpy.{name}" for name in "ndarray bool_ integer floating number uint8 int8 uint16 int16".split())
    | frozenset(f"numpy.{name}" for name in "uint32 int32 uint64 int64 float16 float32 float64 intp".split())
    | {"pathlib.Path", "pathlib.PurePath"}
)

#: Annotations with brackets that name an array whatever is in these, but for a class of objects.
ARRAY_CLASSES = frozenset({"numpy.ndarray", "numpy.typing.NDArray"})
HOLDS_OBJECTS = frozenset({"numpy.object_", "builtins.object", f"{_TYPING[0]}.Any", f"{_TYPING[1]}.Any"})

#: Containers of Python that are as plain as what is in their brackets.
PLAIN_CONTAINERS = frozenset(f"builtins.{name}" for name in "list dict set frozenset tuple".split()) | _of_typing(
    "List Dict Set FrozenSet Tuple"
)

#: What says no more about an object than what is in its brackets does.
TYPE_QUALIFIERS = _of_typing("Optional Union Final ClassVar Required NotRequired ReadOnly")

#: Other containers that give one of their items by an index or a key. Of what class they are, nobody knows.
INDEXED_CONTAINERS = PLAIN_CONTAINERS | frozenset(
    f"{module}.{name}" for module in (*_TYPING, "collections.abc") for name in "Sequence Mapping".split()
)
#: Those whose items are the last in the brackets, after the keys.
_MAPPINGS = frozenset({"builtins.dict", "collections.abc.Mapping"}) | _of_typing("Dict Mapping")

#: The base class of dictionaries with declared keys.
TYPED_DICTS = _of_typing("TypedDict")


def declared_items(container: str, arguments: tuple[int, ...]) -> tuple[int, ...]:
    """Of what is in the brackets of a container's annotation, what its items may be."""
    return arguments[1:] if container in _MAPPINGS else arguments
