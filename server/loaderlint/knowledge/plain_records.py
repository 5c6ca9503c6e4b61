"""Records: what gives plain lists and dictionaries, and what edits them."""

from __future__ import annotations

#: What gives lists and dictionaries that hold each other and nothing else.
PLAIN_LOADERS = frozenset(
    """
    json.load json.loads simplejson.load simplejson.loads ujson.load ujson.loads orjson.loads yaml.safe_load yaml.load
    pickle.load pickle.loads toml.load tomllib.load mmcv.load mmengine.load builtins.dict builtins.list
    collections.defaultdict collections.OrderedDict copy.deepcopy csv.DictReader
    """.split()
)

#: Methods that make a container longer, and shorter.
GROWING_METHODS = frozenset("append extend insert appendleft extendleft".split())
SHRINKING_METHODS = frozenset("pop popitem popleft remove".split())

#: Functions that join paths: done again, the result is longer, unless it is absolute.
JOINS = frozenset("os.path.join posixpath.join ntpath.join".split())
