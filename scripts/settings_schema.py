"""The settings in machine-readable form: the rules' names in package.json, from which editors read the settings, and
the JSON schema of `[tool.loaderlint]` and `loaderlint.toml`, which is generated from package.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from loaderlint import HOME
from loaderlint.rules import RULES
from loaderlint.settings.settings import KEYS
from scripts.rule_lines import line

#: The address of the published schema, among the pages of the documentation.
URL = f"{HOME}/loaderlint.schema.json"
_PREFIX = "loaderlint."
#: Selectors for several rules, with their descriptions.
_GROUPS = {"ALL": "all rules"}
#: Settings and keys that only VS Code uses.
_OF_VSCODE = frozenset(
    ("order", "scope", "default", "markdownDescription", "enumDescriptions", "enumItemLabels", "propertyNames")
)


def manifest(text: str) -> str:
    """The text of package.json in which the settings for rules list all of them."""
    document = json.loads(text)
    for setting in document["contributes"]["configuration"]["properties"].values():
        items, keys = setting.get("items", {}), setting.get("propertyNames", {})
        if "enumDescriptions" in items:
            items |= {"enum": [*_selectors()], "enumDescriptions": [*_selectors().values()]}
        if "enum" in keys:
            keys["enum"] = [*_selectors()]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _selectors() -> dict[str, str]:
    """The selectors of rules with their descriptions, the names first, because most people choose one."""
    names = {rule.name: f"{rule.code}: {line(rule)}" for rule in RULES}
    families = {rule.code[:4]: f"all rules whose code begins with {rule.code[:4]}" for rule in RULES}
    return {**names, **_GROUPS, **families, **{rule.code: rule.name for rule in RULES}}


def schema(package: str) -> str:
    """The JSON schema of the settings, from the descriptions in package.json."""
    editor = json.loads(package)["contributes"]["configuration"]["properties"]
    properties = {key: _property(key, editor[_PREFIX + _camel(key)]) for key in sorted(KEYS)}
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": URL,
        "title": "loaderlint",
        "description": "The settings of loaderlint: loaderlint.toml, or [tool.loaderlint] in pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "definitions": {"selectors": _selector_list(), "selector": _selector()},
        "properties": properties,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _property(key: str, setting: Mapping[str, Any]) -> dict[str, Any]:
    description = re.sub(r" (?:Empty|Not set): .*", "", setting["markdownDescription"]).replace("*", "")
    said: dict[str, Any] = {"description": description}
    if key in ("select", "extend-select", "ignore"):
        return {**said, "allOf": [_ref("selectors")]}
    if key == "severity":
        return {**said, **_plain(setting), "propertyNames": _ref("selector")}
    if key == "per-file-ignores":
        return {**said, "type": "object", "additionalProperties": _ref("selectors")}
    if key == "loaders":
        return {**said, "anyOf": [_plain(setting), {"type": "array", "items": {"type": "string"}}]}
    return {**said, **_plain(setting)}


def _plain(setting: Mapping[str, Any]) -> dict[str, Any]:
    """A setting without the parts for VS Code, where an empty text means 'not set'."""
    kept = {name: value for name, value in setting.items() if name not in _OF_VSCODE}
    if "enum" in kept:
        kept["enum"] = [value for value in kept["enum"] if value]
    return kept


def _selector_list() -> dict[str, Any]:
    return {"type": "array", "items": _ref("selector"), "uniqueItems": True}


def _selector() -> dict[str, Any]:
    """A rule by its name, its code or the beginning of its code, or 'ALL'. A newer version may know more names."""
    return {
        "description": "A rule: its name, its code, the beginning of its code, or ALL.",
        "anyOf": [{"enum": [*_selectors()]}, {"type": "string", "pattern": "^LDR[0-9]{0,3}$"}],
    }


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/definitions/{name}"}


def _camel(key: str) -> str:
    return re.sub(r"-(.)", lambda found: found[1].upper(), key)
