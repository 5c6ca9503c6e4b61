"""What serves one rule lives with it; what is in `rules/shared` serves several."""

from __future__ import annotations

from collections import Counter

import grimp

RULES = "loaderlint.rules"
SHARED = f"{RULES}.shared"


def test_shared_modules_serve_several_rules() -> None:
    graph = grimp.build_graph("loaderlint", cache_dir=None)
    rules = graph.find_children(RULES) - {SHARED, f"{RULES}.base"}
    users = Counter(
        module
        for rule in rules
        for module in graph.find_upstream_modules(rule, as_package=True)
        if module.startswith(f"{SHARED}.")
    )
    lonely = {module for module in graph.find_children(SHARED) if users[module] < 2}
    assert not lonely, "move these beside the rule that they serve"
