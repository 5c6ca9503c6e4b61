"""The files of a project, prepared for the linker: found, read, cut into pieces, lowered and searched."""
