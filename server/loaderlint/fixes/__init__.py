"""Fix intents to edits.

* `edits`: what comes out (edits, repairs) and what goes in (`FileAccess`).
* `apply`: the entry, `edits_for` for one fix and `merge` for the fixes of many findings.
* `tree`: a piece's nodes with their places in the file.
* `draft`: one file while its changes are collected.
* `names`: what the file's names mean, and the `{...}` marks in intents.
* `header`: imports and functions that are added below the imports.
* `arguments`, `expressions`, `statements`, `members`: one family of intents each.

Edits are minimal: they touch the ranges of nodes, never the comments and the layout around them.
"""
