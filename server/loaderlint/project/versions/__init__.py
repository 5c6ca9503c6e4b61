"""Which versions a project runs on, read from its files: one module a kind of file, each a function from text to what
it declares; `sources` says which files count for how much, `declared` puts it together, `installed` reads environments.

Files are read as text. Nothing is run or imported, and a file that cannot be read declares nothing.
"""
