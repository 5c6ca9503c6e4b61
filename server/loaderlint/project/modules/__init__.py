"""The modules of a project: their names and imports, the components that they form, and what linking depends on."""
