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
