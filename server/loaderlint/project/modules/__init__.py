"""The modules of a project: their names and imports, the components that imports make of them, and
what linking depends on."""
