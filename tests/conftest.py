"""For all tests: what is installed where the tests run is no business of the projects in them, and nothing is kept in
the home of who runs them."""

from __future__ import annotations

import os
import tempfile

for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
    os.environ.pop(name, None)

_CACHE = tempfile.TemporaryDirectory(prefix="loaderlint-tests-", ignore_cleanup_errors=True)
os.environ["LOADERLINT_CACHE_DIR"] = _CACHE.name
