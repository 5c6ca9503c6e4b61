"""How loaderlint itself runs: its processes, its call stack, its import path, and its internal errors."""
