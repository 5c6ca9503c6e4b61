"""For all tests: what is installed where the tests run is no business of the projects in them."""

from __future__ import annotations

import os

for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
    os.environ.pop(name, None)
