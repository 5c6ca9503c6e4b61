"""Which versions a project runs on, read from its files: one module per file format, with a function from text to
declarations. `version_files` lists the files and which count for more, `project_versions` combines what they declare,
and `installed_packages` reads environments.

Files are read as text. Nothing is run or imported, and a file that cannot be read declares nothing.
"""
