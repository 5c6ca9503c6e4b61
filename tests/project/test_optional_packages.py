"""Packages without which a file runs as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.reach.optional_packages import is_optional
from tests.project.linking import link
from tests.rules.answers import lines

#: Module-level code that imports cv2, and whether the file runs without it.
IMPORTS: dict[str, bool] = {
    "try: import cv2; except ImportError: cv2 = None": True,
    "try: from cv2 import imread; except ImportError: imread = None": True,
    "try:;  import cv2;  HAS = True; except Exception: HAS = False": True,
    "if find_spec('cv2'): import cv2": True,
    "if load(): import cv2; else: from PIL import Image": True,
    "import cv2": False,
    "import cv2.ximgproc as x": False,
    "try: import cv2; except ImportError: raise RuntimeError('install OpenCV')": False,
    "try: import cv2; except ImportError:;  print('install OpenCV');  sys.exit(1)": False,
    "try: import cv2; except ImportError: exit(1)": False,
    "try: from cv2 import x; except ImportError: from cv2.y import x": False,
    "with load(): import cv2": False,
    "if TYPE_CHECKING: import cv2": False,
    "def f(): import cv2": False,
    "import PIL": False,
    "try: from .cv2 import x; except ImportError: x = None": False,
    "try: import cv2; except ImportError: cv2 = None | import cv2": False,
    "import beside | ": True,
    "import beside, sure | ": False,
    "try: import sure; except ImportError: pass": False,
    "import other | ": False,
}
_BESIDE = """
--- beside.py
try:
    import cv2
except ImportError:
    cv2 = None
--- sure.py
import cv2
--- other.py
import sys
"""


@pytest.mark.parametrize("code", IMPORTS)
def test_whether_a_file_runs_without_a_package(code: str, tmp_path: Path) -> None:
    text = "\n".join(lines(one) for one in code.split(" | "))
    linked = link(tmp_path, f"--- case.py\n{text}\n{_BESIDE}")
    assert is_optional("cv2", tmp_path / "case.py", linked.model) is IMPORTS[code]
