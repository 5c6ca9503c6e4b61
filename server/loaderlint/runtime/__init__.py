"""How loaderlint itself runs: its processes, its call stack, its module path, and errors of its own."""
