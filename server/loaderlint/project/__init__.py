"""The model of a project: what runs where.

* `modules`: its files, their names and imports, and what linking depends on.
* `evaluation`: what expressions may be, across files.
* `loaders`: which loaders are made, with which arguments.
* `versions`: which versions and platforms it runs on.
* `reach`: what the workers of each loader run, and what the main process runs. Rules ask `reach.model`.
"""
