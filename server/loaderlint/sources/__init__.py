"""The files of a project as the linker gets them: found, read, cut into pieces, lowered, searched."""
