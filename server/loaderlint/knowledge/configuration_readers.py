"""Functions that read configuration files, and what keeps the items that they give."""

from __future__ import annotations

YAML, JSON, TOML = (".yaml", ".yml"), (".json",), (".toml",)
#: Functions that read a file or text as dictionaries, lists and constants, each with the names of such files.
READERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        """
        yaml.safe_load yaml.load yaml.full_load yaml.unsafe_load ruamel.yaml.safe_load ruamel.yaml.load
        ruamel.yaml.YAML.load omegaconf.OmegaConf.load
        """.split(),
        YAML,
    ),
    **dict.fromkeys(
        """
        json.load json.loads ujson.load ujson.loads simplejson.load simplejson.loads orjson.loads commentjson.load
        commentjson.loads
        """.split(),
        JSON,
    ),
    **dict.fromkeys("toml.load toml.loads tomllib.load tomllib.loads tomli.load tomli.loads".split(), TOML),
}
#: What holds the items of its first argument, or of `**items`, as items or attributes.
KEEPS_ITEMS = frozenset(
    """
    types.SimpleNamespace argparse.Namespace easydict.EasyDict munch.Munch munch.munchify munch.Munch.fromDict
    munch.DefaultMunch.fromDict addict.Dict attrdict.AttrDict omegaconf.OmegaConf.create omegaconf.DictConfig
    omegaconf.OmegaConf.to_container ml_collections.ConfigDict ml_collections.config_dict.ConfigDict box.Box
    box.ConfigBox dotmap.DotMap copy.copy copy.deepcopy omegaconf.OmegaConf.merge
    """.split()
)
#: Methods that give an item, by its key, and those that give all items.
ITEM_METHODS = frozenset({"get", "pop", "setdefault"})
COPYING_METHODS = frozenset({"copy", "to_dict", "toDict", "as_dict"})
#: How the names of all these begin.
PREFIXES = tuple({name.partition(".")[0] + "." for name in (*READERS, *KEEPS_ITEMS)})
