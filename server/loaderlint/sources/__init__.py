"""The files of a project as the linker needs them: found, read, cut into pieces, lowered and searched."""
