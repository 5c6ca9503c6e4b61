"""From fix intents to edits.

* `file_edits`: the results (edits, repairs) and how files are read (`FileAccess`).
* `apply`: the entry, `edits_for` for one fix and `merge` for the fixes of many findings.
* `piece_tree`: a piece's nodes with their places in the file.
* `draft`: one file while its changes are collected.
* `name_scopes`: what the file's names mean, and the `{...}` marks in intents.
* `added_functions`: functions that are added, and `inserted_code`: where they and new imports go.
* `edit_arguments`, `edit_expressions`, `edit_statements`, `edit_comments`, `class_members`, `hoist`, `enclosing`: one
  family of intents each.
* `layout`: where statements begin, and which comments belong to them.
* `validity`: whether changed code is still valid.

Edits are minimal: they touch the ranges of nodes, never the comments and the layout around them.
"""
