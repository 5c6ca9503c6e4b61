"""Imports and functions below the imports, and the marks that name modules."""

from __future__ import annotations

import libcst as cst
import pytest
from msgspec.structs import replace

from loaderlint.findings.finding import AddImport, InsertFunction, InsertStatement, Replace, SetArgument
from loaderlint.fixes.apply import edits_for
from loaderlint.fixes.file_edits import NoFix
from tests.fixes.fixing import PATH, Files, apply, fixed, place, refused

KNOWN = [
    ("import numpy as np\n", "numpy", "np"),
    ("import numpy\n", "numpy", "numpy"),
    ("import numpy.random\n", "numpy", "numpy"),
    ("import numpy as xp\n", "numpy", "xp"),
    ("import torch.utils.data as data\n", "torch.utils.data", "data"),
    ("import torch.utils.data\n", "torch.utils.data", "torch.utils.data"),
    ("import torch.utils.data\n", "torch", "torch"),
    ("from torch.utils import data\n", "torch.utils.data", "data"),
    ("from torch.utils import data as d\n", "torch.utils.data", "d"),
    ("import torch\nfrom torch.utils.data import DataLoader\n", "torch.utils.data", "torch.utils.data"),
    ("import torch\n", "torch.utils.data", "torch.utils.data"),  # comes along with `torch`
    ("import os, random as r\n", "random", "r"),
    ("try:\n    import cv2\nexcept ImportError:\n    cv2 = None\n", "cv2", "cv2"),
]


@pytest.mark.parametrize(("imports", "module", "name"), KNOWN)
def test_a_module_that_is_known(imports: str, module: str, name: str) -> None:
    text = f"{imports}x = y\n"
    assert fixed(text, [Replace(place(text, "y"), "{" + module + "}.z")]) == f"{imports}x = {name}.z\n"
    assert refused(text, [AddImport(PATH, module)]) == "nothing is left to change"


ADDED = [
    ("", "import numpy as np\n"),
    ("x = y\n", "import numpy as np\n\nx = y\n"),
    ("\n\nx = y\n", "import numpy as np\n\n\nx = y\n"),
    ("import os\nx = y\n", "import os\n\nimport numpy as np\nx = y\n"),
    ("import os", "import os\n\nimport numpy as np"),
    ("import os\n\nx = y\nimport sys\n", "import os\n\nx = y\nimport sys\n\nimport numpy as np\n"),
    ('"""Doc."""\nx = y\n', '"""Doc."""\n\nimport numpy as np\n\nx = y\n'),
    ('"""Doc."""\n\nx = y\n', '"""Doc."""\n\nimport numpy as np\n\nx = y\n'),
    ('"""Doc."""\n\nimport os\n', '"""Doc."""\n\nimport os\n\nimport numpy as np\n'),
    (
        '"""Doc."""\nfrom __future__ import annotations\n\nx = y\n',
        '"""Doc."""\nfrom __future__ import annotations\n\nimport numpy as np\n\nx = y\n',
    ),
    ("#!/usr/bin/env python\nx = y\n", "#!/usr/bin/env python\nimport numpy as np\n\nx = y\n"),
    ("# -*- coding: utf-8 -*-\n\nx = y\n", "# -*- coding: utf-8 -*-\nimport numpy as np\n\nx = y\n"),
    ("# Licence\n# of this\n\nx = y\n", "# Licence\n# of this\n\nimport numpy as np\n\nx = y\n"),
    ("# about x\nx = y\n", "import numpy as np\n\n# about x\nx = y\n"),
    ("from a import (\n    b,  # c\n)\nx = y\n", "import numpy as np\nfrom a import (\n    b,  # c\n)\nx = y\n"),
    ("import os  # c\r\nx = y\r\n", "import os  # c\r\n\r\nimport numpy as np\r\nx = y\r\n"),
    ("import a; import b\nx = y\n", "import a; import b\nimport numpy as np\nx = y\n"),
    (
        "if TYPE_CHECKING:\n    import numpy as np\n",
        "import numpy as np\n\nif TYPE_CHECKING:\n    import numpy as np\n",
    ),
    ("def f():\n    import numpy as np\n", "import numpy as np\n\ndef f():\n    import numpy as np\n"),
    ("np = 1\n", "import numpy\n\nnp = 1\n"),
    ("import nope as np\n", "import nope as np\nimport numpy\n"),
    ("np = numpy = 1\n", "import numpy as np_2\n\nnp = numpy = 1\n"),
    ("def f():\n    global np\n    np = 1\n", "import numpy\n\ndef f():\n    global np\n    np = 1\n"),
]


@pytest.mark.parametrize(("text", "expected"), ADDED)
def test_an_import_is_added(text: str, expected: str) -> None:
    assert fixed(text, [AddImport(PATH, "numpy")]) == expected
    assert refused(expected, [AddImport(PATH, "numpy")]) == "nothing is left to change"


SORTED = [
    # into its own group, sorted as that is
    ("random", "import os\nimport sys\n\nimport torch\n", "import os\nimport random\nimport sys\n\nimport torch\n"),
    ("os", "import sys\n\nimport torch\n", "import os\nimport sys\n\nimport torch\n"),
    ("numpy", "import os\n\nimport torch\n", "import os\n\nimport numpy as np\nimport torch\n"),
    (
        "random",
        "import os\nfrom pathlib import Path\n\nimport torch\n",
        "import os\nimport random\nfrom pathlib import Path\n\nimport torch\n",
    ),
    # by module alone, where the file sorts so
    (
        "torch",
        "from PIL import Image\nimport skimage\nfrom torchvision import models\nimport yaml\n",
        "from PIL import Image\nimport skimage\nimport torch\nfrom torchvision import models\nimport yaml\n",
    ),
    # above the heading of the project's own imports; below one of libraries
    (
        "numpy",
        '"""What this is."""\n\n# Ours\nfrom src.data import *\n',
        '"""What this is."""\n\nimport numpy as np\n\n# Ours\nfrom src.data import *\n',
    ),
    (
        "numpy",
        '"""What this is."""\n\n# Needed\nimport torch\n',
        '"""What this is."""\n\n# Needed\nimport numpy as np\nimport torch\n',
    ),
    # by module over all kinds, where these stand in turns
    (
        "torch",
        "import copy\nimport numpy as np\nimport pickle\nimport torch.utils.data as data\n",
        "import copy\nimport numpy as np\nimport pickle\nimport torch\nimport torch.utils.data as data\n",
    ),
    (
        "random",
        "import copy\nimport numpy\nimport pickle\nfrom enum import Enum\nfrom torch import nn\n",
        "import copy\nimport numpy\nimport pickle\nimport random\nfrom enum import Enum\nfrom torch import nn\n",
    ),
    # after the last of its kind, where the file has no order
    (
        "random",
        "import sys\nimport torch\nimport os\nimport cv2\n",
        "import sys\nimport torch\nimport os\nimport random\nimport cv2\n",
    ),
    # with the first ones of its form, not with a stray one further down
    (
        "random",
        "import time\nimport os\n\nimport torch\nfrom itertools import chain\nimport cv2\n",
        "import time\nimport os\nimport random\n\nimport torch\nfrom itertools import chain\nimport cv2\n",
    ),
    (
        "random",
        "import os\nimport numpy\n\nfrom collections import deque\n\n",
        "import os\nimport random\nimport numpy\n\nfrom collections import deque\n\n",
    ),
    (
        "random",
        "from io import BytesIO\n\nimport torch\nfrom collections import deque\n",
        "import random\nfrom io import BytesIO\n\nimport torch\nfrom collections import deque\n",
    ),
    # before the project's own modules, where these stand with the libraries
    (
        "cv2",
        "import json\nimport torch\nfrom torchvision import models\nfrom opts import opts\nfrom logger import Logger\n",
        "import json\nimport torch\nimport cv2\nfrom torchvision import models\nfrom opts import opts\n"
        "from logger import Logger\n",
    ),
    (
        "cv2",
        "import torch\nimport torchvision\nfrom opts import opts\nfrom datasets.dtu import Views\n",
        "import torch\nimport torchvision\nimport cv2\nfrom opts import opts\nfrom datasets.dtu import Views\n",
    ),
    # below the last one of its form, where the group has no order
    (
        "random",
        "import sys\nimport os\nfrom pathlib import Path\nfrom glob import glob\n",
        "import sys\nimport os\nimport random\nfrom pathlib import Path\nfrom glob import glob\n",
    ),
    (
        "random",
        "from pathlib import Path\nimport os\nfrom glob import glob\n",
        "from pathlib import Path\nimport os\nimport random\nfrom glob import glob\n",
    ),
    # the order of one group by module may be chance, where another has none
    (
        "random",
        "from copy import copy\nimport os\nfrom typing import Any\n\nimport torch\nimport cv2\n",
        "from copy import copy\nimport os\nimport random\nfrom typing import Any\n\nimport torch\nimport cv2\n",
    ),
    (
        "random",
        "from copy import copy\nimport os\nfrom pathlib import Path\nfrom typing import Any\n\n"
        "import torch\nimport cv2\n",
        "from copy import copy\nimport os\nimport random\nfrom pathlib import Path\nfrom typing import Any\n\n"
        "import torch\nimport cv2\n",
    ),
    (
        "random",
        "from copy import copy\nimport os\nfrom pathlib import Path\nfrom typing import Any\n\n"
        "import cv2\nimport torch\n",
        "from copy import copy\nimport os\nfrom pathlib import Path\nimport random\nfrom typing import Any\n\n"
        "import cv2\nimport torch\n",
    ),
    # below the heading of its group, and above the next heading
    (
        "cv2",
        "# Standard\nimport os\n\n# Libraries\nimport torch\nimport yaml\n",
        "# Standard\nimport os\n\n# Libraries\nimport cv2\nimport torch\nimport yaml\n",
    ),
    (
        "random",
        "# ---\n#  Imports\n# ---\n\n# Common\nimport signal\nimport time\n\n# Data\nfrom torch import nn\n",
        "# ---\n#  Imports\n# ---\n\n# Common\nimport random\nimport signal\nimport time\n\n"
        "# Data\nfrom torch import nn\n",
    ),
    (
        "numpy",
        "import os\n# Data\nfrom data import Items\nfrom torch import nn\n",
        "import os\n# Data\nimport numpy as np\nfrom data import Items\nfrom torch import nn\n",
    ),
    # a heading is that of its own group only
    (
        "random",
        '"""Doc."""\n\n# Libraries\nimport torch\nimport yaml\n',
        '"""Doc."""\n\nimport random\n\n# Libraries\nimport torch\nimport yaml\n',
    ),
    # a comment on an import below the first goes with it
    (
        "torch",
        "import cv2\n# the models\nimport torchvision\nimport yaml\n",
        "import cv2\nimport torch\n# the models\nimport torchvision\nimport yaml\n",
    ),
    # below what stands above the imports of its kind
    (
        "cv2",
        'import os\nos.environ["OMP_NUM_THREADS"] = "1"\nimport sys\nimport torch\n',
        'import os\nos.environ["OMP_NUM_THREADS"] = "1"\nimport sys\nimport cv2\nimport torch\n',
    ),
    (
        "cv2",
        "import sys\n\nsys.path.append('..')\n\nimport numpy as np\n\n\ndef f():\n    pass\n",
        "import sys\n\nsys.path.append('..')\n\nimport cv2\nimport numpy as np\n\n\ndef f():\n    pass\n",
    ),
    (
        "torch",
        "import numpy\n\nnumpy.seterr()\n\nimport cv2\n",
        "import numpy\nimport torch\n\nnumpy.seterr()\n\nimport cv2\n",
    ),
    (
        "random",
        "import os\n\nA = 1\n\nimport torch\n",
        "import os\nimport random\n\nA = 1\n\nimport torch\n",
    ),
    (
        "torch",
        "import os\n\n\ndef f():\n    pass\n\n\nimport numpy\n",
        "import os\n\nimport torch\n\n\ndef f():\n    pass\n\n\nimport numpy\n",
    ),
    # into the main block, where a few imports stand above another statement
    (
        "cv2",
        "from tensorboardX import SummaryWriter\n\nwriter = SummaryWriter()\nimport os\n\nimport matplotlib\n"
        "import numpy\nimport torch\nimport torchvision\n\nimport models\n",
        "from tensorboardX import SummaryWriter\n\nwriter = SummaryWriter()\nimport os\n\nimport cv2\n"
        "import matplotlib\nimport numpy\nimport torch\nimport torchvision\n\nimport models\n",
    ),
    (
        "random",
        "import os\nos.environ['A'] = '1'\nimport glob\nimport json\nimport sys\nimport torch\n",
        "import os\nos.environ['A'] = '1'\nimport glob\nimport json\nimport random\nimport sys\nimport torch\n",
    ),
    # not to fewer, not to the project's own, not away from its package, and not below a definition
    (
        "cv2",
        "import numpy\nimport torch\nimport yaml\n\nA = 1\nimport scipy\nimport sklearn\nimport skimage\n",
        "import cv2\nimport numpy\nimport torch\nimport yaml\n\nA = 1\nimport scipy\nimport sklearn\nimport skimage\n",
    ),
    (
        "cv2",
        "import torch\nimport sys\nsys.path.append('..')\nimport models\nimport opts\nimport engine\n",
        "import cv2\nimport torch\nimport sys\nsys.path.append('..')\nimport models\nimport opts\nimport engine\n",
    ),
    (
        "torch",
        "from torch.utils.tensorboard import SummaryWriter\n\nA = 1\nimport numpy\nimport scipy\nimport skimage\n",
        "import torch\nfrom torch.utils.tensorboard import SummaryWriter\n\nA = 1\nimport numpy\nimport scipy\n"
        "import skimage\n",
    ),
    (
        "cv2",
        "import torch\n\n\ndef f():\n    pass\n\n\nimport numpy\nimport scipy\nimport skimage\n",
        "import cv2\nimport torch\n\n\ndef f():\n    pass\n\n\nimport numpy\nimport scipy\nimport skimage\n",
    ),
    # a group of its own
    ("random", "import torch\n\nx = y\n", "import random\n\nimport torch\n\nx = y\n"),
    ("torch", "import os\n\nfrom .a import b\n", "import os\n\nimport torch\n\nfrom .a import b\n"),
    ("random", "import torch\nfrom .a import b\n", "import random\nimport torch\nfrom .a import b\n"),
    # third party, not the project's own
    (
        "torch",
        "import cv2\nimport numpy\n\nfrom project import models\n",
        "import cv2\nimport numpy\nimport torch\n\nfrom project import models\n",
    ),
    (
        "cv2",
        "import _paths\n\nimport os\n\nimport torch\n",
        "import _paths\n\nimport os\n\nimport cv2\nimport torch\n",
    ),
    # below what opens the file, above the comment on an import
    ("random", "# Licence\nimport torch\n", "# Licence\nimport random\n\nimport torch\n"),
    ("random", "import sys\n# about torch\nimport torch\n", "import random\nimport sys\n# about torch\nimport torch\n"),
    (
        "os",
        '"""Doc."""\n\n# third party\nimport torch\n',
        '"""Doc."""\n\nimport os\n\n# third party\nimport torch\n',
    ),
]


@pytest.mark.parametrize(("module", "text", "expected"), SORTED)
def test_an_import_is_sorted_into_its_group(module: str, text: str, expected: str) -> None:
    assert fixed(text, [AddImport(PATH, module)]) == expected


def test_an_import_stands_above_what_uses_it() -> None:
    text = "import os\n\nx = y\n\nimport numpy as np\n"
    after = "import os\n\nimport cv2\n\nx = cv2.z\n\nimport numpy as np\n"
    assert fixed(text, [Replace(place(text, "y"), "{cv2}.z")]) == after
    seed = InsertFunction(PATH, "init_worker", "def {name}(worker_id):\n    {cv2}.setNumThreads(0)")
    function = "def init_worker(worker_id):\n    cv2.setNumThreads(0)\n"
    after = f"import os\n\nimport cv2\n\n\n{function}\n\nx = init_worker\n\nimport numpy as np\n"
    assert fixed(text, [seed, Replace(place(text, "y"), "{init_worker}")]) == after


def test_a_function_stands_below_an_import_that_it_needs() -> None:
    text = "import os\nos.environ['A'] = '1'\nimport numpy as np\n\nx = y\n"
    seed = InsertFunction(PATH, "init_worker", "def {name}(worker_id):\n    {cv2}.setNumThreads(0)")
    function = "def init_worker(worker_id):\n    cv2.setNumThreads(0)\n"
    after = f"import os\nos.environ['A'] = '1'\nimport cv2\nimport numpy as np\n\n\n{function}\n\nx = init_worker\n"
    assert fixed(text, [seed, Replace(place(text, "y"), "{init_worker}")]) == after


#: An import that is there, and what becomes of it when `fold` is imported of the same module.
EXTENDED = [
    ("from data import Crops", "from data import Crops, fold"),
    ("from data import Crops as C, join  # ours", "from data import Crops as C, fold, join  # ours"),
    ("from data import zip_up, Crops", "from data import zip_up, Crops, fold"),
    ("from data import (\n    Crops,\n    join,\n)", "from data import (\n    Crops,\n    fold,\n    join,\n)"),
    ("from data import (\n    Crops\n)", "from data import (\n    Crops,\n    fold\n)"),
    ("from data import A, \\\n    B", "from data import A, \\\n    B, \\\n    fold"),
    ("import data\nfrom data import grow", "import data\nfrom data import fold, grow"),
    (
        "import sys\nsys.path.append('..')\nfrom data import Crops",
        "import sys\nsys.path.append('..')\nfrom data import Crops, fold",
    ),
    (  # comments belong to a name
        "from data import (\n    A,  # one\n    B,\n)",
        "from data import (\n    A,  # one\n    B,\n)\nfrom data import fold",
    ),
    (  # too long
        "from data import Aaaaaaaaaaaaaaaaaaaaaa, Bbbbbbbbbbbbbbbbbbbbbbbb, Ccccccccccccccc",
        "from data import Aaaaaaaaaaaaaaaaaaaaaa, Bbbbbbbbbbbbbbbbbbbbbbbb, Ccccccccccccccc\nfrom data import fold",
    ),
    (  # too long, even if the file has longer lines
        f"from data import {', '.join(f'Long{letter * 10}' for letter in 'ABCDE')}\n# {'-' * 150}",
        f"from data import {', '.join(f'Long{letter * 10}' for letter in 'ABCDE')}\n"
        f"from data import fold\n# {'-' * 150}",
    ),
    (  # longer than usual already
        f"from data import {', '.join(f'Long{letter * 10}' for letter in 'ABCDEFGH')}",
        f"from data import {', '.join(f'Long{letter * 10}' for letter in 'ABCDEFGH')}, fold",
    ),
    (  # as long as other lines of code
        f"from data import {', '.join(f'Long{letter * 10}' for letter in 'ABCDE')}\nx = {'y' * 110}",
        f"from data import {', '.join(f'Long{letter * 10}' for letter in 'ABCDE')}, fold\nx = {'y' * 110}",
    ),
    (  # the comment does not count
        f"from data import Aaaaa, Bbbbb  # {'c' * 80}",
        f"from data import Aaaaa, Bbbbb, fold  # {'c' * 80}",
    ),
    ("from data import *", "from data import *\nfrom data import fold"),
    ("from .data import A\nfrom data import B", "from .data import A\nfrom data import B, fold"),
    ("try:\n    from data import A\nexcept ImportError:\n    A = None", None),
    ("if A:\n    from data import A", None),
]


@pytest.mark.parametrize(("text", "expected"), EXTENDED)
def test_a_name_is_added_to_an_import_that_is_there(text: str, expected: str | None) -> None:
    text += "\n\nx = y\n"
    changed = fixed(text, [AddImport(PATH, "data", name="fold"), Replace(place(text, "y"), "{fold}")])
    if expected is None:
        assert text.replace("x = y", "x = fold") in changed
        return
    assert changed == f"{expected}\n\nx = fold\n"


#: The imports of a file, and how `{random}.Random` is written below them.
MEMBERS = [
    ("from random import Random\n", "from random import Random\n\nx = Random\n"),
    ("from random import Random as R\n", "from random import Random as R\n\nx = R\n"),
    ("import random\nfrom random import Random\n", "import random\nfrom random import Random\n\nx = random.Random\n"),
    ("from random import choice\n", "import random\nfrom random import choice\n\nx = random.Random\n"),
    ("from rand import Random\n", "import random\nfrom rand import Random\n\nx = random.Random\n"),
]


@pytest.mark.parametrize(("imports", "expected"), MEMBERS)
def test_a_member_that_is_imported_by_its_name_is_used_so(imports: str, expected: str) -> None:
    text = f"{imports}\nx = y\n"
    changed = fixed(text, [Replace(place(text, "y"), "{random}.Random")])
    assert [line for line in changed.splitlines() if line] == [line for line in expected.splitlines() if line]


def test_an_import_below_the_use_is_left_alone() -> None:
    text = "x = y\nfrom data import Crops\n"
    changed = fixed(text, [AddImport(PATH, "data", name="fold"), Replace(place(text, "y"), "{fold}")])
    assert changed == "from data import fold\n\nx = fold\nfrom data import Crops\n"


def test_several_names_of_one_module() -> None:
    text = "from data import Crops, Items, grow\n\nx = y\n"
    intents = [AddImport(PATH, "data", name=name) for name in ("fold", "zip_up", "Flips")]
    assert fixed(text, intents).startswith("from data import Crops, Flips, Items, fold, grow, zip_up\n")


def test_an_import_stands_below_what_makes_its_package_known() -> None:
    head = "import sys\nimport torch\n\nsys.path.append('..')\n\nimport numpy as np\nfrom tools.search import grid\n"
    text = f"{head}\nx = y\n"
    changed = fixed(text, [AddImport(PATH, "tools.data", name="fold"), Replace(place(text, "y"), "{fold}")])
    assert changed == head.replace("from tools", "from tools.data import fold\nfrom tools") + "\nx = fold\n"
    text = "import torch\nimport tools.search\n\nx = y\n"
    changed = fixed(text, [AddImport(PATH, "tools.data", name="fold"), Replace(place(text, "y"), "{fold}")])
    assert changed == "import torch\nimport tools.search\nfrom tools.data import fold\n\nx = fold\n"


def test_several_imports_are_sorted_into_their_groups() -> None:
    text = "import cv2\n\nx = y\n"
    intents = [AddImport(PATH, module) for module in ("torch", "random", "numpy", "os")]
    after = "import os\nimport random\n\nimport cv2\nimport numpy as np\nimport torch\n\nx = y\n"
    assert fixed(text, intents) == after
    text = "import os\n\nfrom .a import b\n"
    after = "import os\n\nimport numpy as np\nimport torch\n\nfrom .a import b\n"
    assert fixed(text, intents[::2]) == after


def test_what_a_module_says_of_itself_stands_above_its_imports() -> None:
    text = '"""Doc."""\n__author__ = "A"\n\nimport os\n\nx = y\n'
    assert fixed(text, [AddImport(PATH, "time")]) == text.replace("import os", "import os\nimport time")
    alone = '"""Doc."""\n__author__ = "A"\n\nx = y\n'
    assert fixed(alone, [AddImport(PATH, "time")]) == alone.replace('Doc."""\n', 'Doc."""\n\nimport time\n\n')


def test_names_out_of_modules() -> None:
    text = "from torch.utils.data import DataLoader\nx = y\n"
    worker_info = AddImport(PATH, "torch.utils.data", name="get_worker_info")
    intents = [worker_info, Replace(place(text, "y"), "get_worker_info()")]
    after = "from torch.utils.data import DataLoader, get_worker_info\nx = get_worker_info()\n"
    assert fixed(text, intents) == after
    text = "from torch.utils.data import get_worker_info as info\nx = y\n"
    intents = [worker_info, Replace(place(text, "y"), "{get_worker_info}()")]
    assert fixed(text, intents) == "from torch.utils.data import get_worker_info as info\nx = info()\n"
    text = "get_worker_info = 1\nx = y\n"
    assert refused(text, [worker_info, Replace(place(text, "y"), "get_worker_info()")])


def test_relative_modules() -> None:
    text = "from . import a\nx = y\n"
    intents = [AddImport(PATH, ".seeding", name="seed_worker"), Replace(place(text, "y"), "{seed_worker}")]
    assert fixed(text, intents) == "from . import a\nfrom .seeding import seed_worker\nx = seed_worker\n"


def test_other_braces_stay() -> None:
    text = "x = y\n"
    assert fixed(text, [Replace(place(text, "y"), "f'{epoch}' + {a}")]) == "x = f'{epoch}' + {a}\n"


def test_a_dotted_module_is_added_under_its_own_name() -> None:
    text = "import torch\nx = y\n"
    after = "import torch\nimport torch.multiprocessing\nx = torch.multiprocessing.z\n"
    assert fixed(text, [Replace(place(text, "y"), "{torch.multiprocessing}.z")]) == after
    text = "torch = 1\nx = y\n"
    after = "import torch.utils.data as torch_utils_data\n\ntorch = 1\nx = torch_utils_data.z\n"
    assert fixed(text, [Replace(place(text, "y"), "{torch.utils.data}.z")]) == after


SHADOWED = [
    "import numpy as np\ndef f(np):\n    x = y\n",
    "import numpy as np\ndef f():\n    np = 1\n    def g():\n        x = y\n",
    "import numpy as np\ndef f():\n    for np in z:\n        x = y\n",
    "import numpy as np\nf = lambda np: y\n",
    "import numpy as np\ny_ = [y for np in z]\n",
    "def f(np):\n    x = y\n",
]


@pytest.mark.parametrize("text", SHADOWED)
def test_a_shadowed_name_is_refused(text: str) -> None:
    assert "something else" in refused(text, [Replace(place(text, "y"), "{numpy}.z")])


#: The `__all__` of a module, and what becomes of it when other files import a new function of the module.
EXPORTED = [
    ("__all__ = ['a']", "__all__ = ['a', 'seed_worker']"),
    ('__all__ = ("a", "b",)', '__all__ = ("a", "b", "seed_worker",)'),
    ('__all__ = [\n    "a",\n    "b",\n]', '__all__ = [\n    "a",\n    "b",\n    "seed_worker",\n]'),
    ('__all__ = [\n    "a", "b"\n]', '__all__ = [\n    "a", "b", "seed_worker"\n]'),
    ('__all__: list[str] = ["a"]', '__all__: list[str] = ["a", "seed_worker"]'),
    ("__all__ = [name]", "__all__ = [name]"),
    ("__all__ = a.__all__ + ['b']", "__all__ = a.__all__ + ['b']"),
    ("__all__ = []", "__all__ = []"),
]


@pytest.mark.parametrize(("listed", "expected"), EXPORTED)
def test_a_function_for_other_files_is_exported(listed: str, expected: str) -> None:
    text = f"import random\n\n{listed}\n\nx = y\n"
    assert f"\n{expected}\n" in fixed(text, [SEED])
    assert f"\n{listed}\n" in fixed(text, [SEED, Replace(place(text, "y"), "{seed_worker}")])


def test_an_import_of_the_function_is_used() -> None:
    text = "def f():\n    import numpy as np\n    x = y\n"
    assert fixed(text, [Replace(place(text, "y"), "{numpy}.z")]) == "def f():\n    import numpy as np\n    x = np.z\n"


def test_an_import_below_does_not_count_at_module_level() -> None:
    text = "x = y\nimport numpy as np\n"
    after = "import numpy as np\n\nx = np.z\nimport numpy as np\n"
    assert fixed(text, [Replace(place(text, "y"), "{numpy}.z")]) == after
    text = "def f():\n    x = y\nimport numpy as np\n"
    assert fixed(text, [Replace(place(text, "y"), "{numpy}.z")]) == "def f():\n    x = np.z\nimport numpy as np\n"


# --- functions --------------------------------------------------------------------------------------------------------

SEED = InsertFunction(PATH, "seed_worker", "def {name}(worker_id):\n    {random}.seed(worker_id)")
DEF = "def seed_worker(worker_id):\n    random.seed(worker_id)\n"

FUNCTIONS = [
    (  # an import in the midst of the script's work
        "import random\n\nA = 1\nif A:\n    print(A)\n    from a import b\n    b(A)\n\nx = y\n",
        f"import random\n\n\n{DEF}\n\nA = 1\nif A:\n    print(A)\n    from a import b\n    b(A)\n\nx = seed_worker\n",
    ),
    (
        "import random\nfor a in range(3):\n    a += 1\n    import b\n\nx = y\n",
        f"import random\n\n\n{DEF}\n\nfor a in range(3):\n    a += 1\n    import b\n\nx = seed_worker\n",
    ),
    (
        "import random\ntry:\n    print(1)\n    import b\nexcept ImportError:\n    import c as b\n\nx = y\n",
        f"import random\n\n\n{DEF}\n\n"
        "try:\n    print(1)\n    import b\nexcept ImportError:\n    import c as b\n\nx = seed_worker\n",
    ),
    (  # an import in a branch far below the others
        f"import random\n\n{'A = 1' * 50}\nif A:\n    import a\nelse:\n    a = 1\n\nx = y\n".replace("1A", "1\nA"),
        f"import random\n\n\n{DEF}\n\n{'A = 1' * 50}\n".replace("1A", "1\nA")
        + "if A:\n    import a\nelse:\n    a = 1\n\nx = seed_worker\n",
    ),
    (  # a choice of imports
        "import random\nif A:  # c\n\n    # d\n    import a\nelse:\n    a = 1\n\nx = y\n",
        f"import random\nif A:  # c\n\n    # d\n    import a\nelse:\n    a = 1\n\n\n{DEF}\n\nx = seed_worker\n",
    ),
    (
        "import random\nif A: import a\n\nx = y\n",
        f"import random\nif A: import a\n\n\n{DEF}\n\nx = seed_worker\n",
    ),
    # what the function needs is imported below the first definitions
    (
        "import os\n\n\ndef f(a):\n    return a\n\n\nf(1)\nimport random\nimport sys\n\n\n"
        "class A:\n    pass\n\n\nx = y\n",
        "import os\n\n\ndef f(a):\n    return a\n\n\nf(1)\nimport random\nimport sys\n\n\n"
        f"{DEF}\n\nclass A:\n    pass\n\n\nx = seed_worker\n",
    ),
    (  # also above them
        "import random\n\n\ndef f(a):\n    return a\n\n\nf(1)\nimport random\n\nx = y\n",
        f"import random\n\n\n{DEF}\n\ndef f(a):\n    return a\n\n\nf(1)\nimport random\n\nx = seed_worker\n",
    ),
    # comments that close the imports stay with them, those above the code below stay with that
    ("import random\n# ----\n\nx = y\n", f"import random\n# ----\n\n\n{DEF}\n\nx = seed_worker\n"),
    (
        "# --- imports ---\nimport random\n# ---------------\n# the rest\n\n\nx = y\n",
        f"# --- imports ---\nimport random\n# ---------------\n# the rest\n\n\n{DEF}\n\nx = seed_worker\n",
    ),
    ("import random\n# about x\nx = y\n", f"import random\n\n\n{DEF}\n\n# about x\nx = seed_worker\n"),
    # imports that are commented out stay with the others
    ("import random\n\n# import a\n\nx = y\n", f"import random\n\n# import a\n\n\n{DEF}\n\nx = seed_worker\n"),
    (
        "import random\n#  from a import b\n# import a.b\n\n\nx = y\n",
        f"import random\n#  from a import b\n# import a.b\n\n\n{DEF}\n\nx = seed_worker\n",
    ),
    (
        "import random\n\n# important: a\n\nx = y\n",
        f"import random\n\n\n{DEF}\n\n# important: a\n\nx = seed_worker\n",
    ),
    (
        "import random\n\n\n# import a\nx = y\n",
        f"import random\n\n\n{DEF}\n\n# import a\nx = seed_worker\n",
    ),
    ("import random\n\nx = y\n", f"import random\n\n\n{DEF}\n\nx = seed_worker\n"),
    ("import random\n\n\nx = y\n", f"import random\n\n\n{DEF}\n\nx = seed_worker\n"),
    ("import random\n\n\n\nx = y\n", f"import random\n\n\n{DEF}\n\n\nx = seed_worker\n"),
    ("x = y\n", f"import random\n\n\n{DEF}\n\nx = seed_worker\n"),
    ('"""Doc."""\n\nx = y\n', f'"""Doc."""\n\nimport random\n\n\n{DEF}\n\nx = seed_worker\n'),
    (
        "import random\n\nA = 1\n\nimport os\n\nx = y\n",
        f"import random\n\nA = 1\n\nimport os\n\n\n{DEF}\n\nx = seed_worker\n",
    ),
    ("import random\nx = y\nimport os\n", f"import random\n\n\n{DEF}\n\nx = seed_worker\nimport os\n"),
    (
        "import random\ntry:\n    import a\nexcept ImportError:\n    a = None\n\nx = y\n",
        f"import random\ntry:\n    import a\nexcept ImportError:\n    a = None\n\n\n{DEF}\n\nx = seed_worker\n",
    ),
    (
        "import random\n\n\ndef main():\n    x = y\n\n\nif __name__ == '__main__':\n    import a\n    main()\n",
        f"import random\n\n\n{DEF}\n\n"
        "def main():\n    x = seed_worker\n\n\nif __name__ == '__main__':\n    import a\n    main()\n",
    ),
    (f"import random\n\n\n{DEF}\n\nx = y\n", f"import random\n\n\n{DEF}\n\nx = seed_worker\n"),
    (
        "import random\n\n\ndef init(worker_id):\n    # same\n    random.seed( worker_id )\n\n\nx = y\n",
        "import random\n\n\ndef init(worker_id):\n    # same\n    random.seed( worker_id )\n\n\nx = init\n",
    ),
    (
        "import random\nseed_worker = 1\nx = y\n",
        "import random\n\n\ndef seed_worker_2(worker_id):\n    random.seed(worker_id)\n\n\n"
        "seed_worker = 1\nx = seed_worker_2\n",
    ),
    (
        "import random\n\n\ndef f():\n    x = y\n    def seed_worker(): pass\n",
        "import random\n\n\ndef seed_worker_2(worker_id):\n    random.seed(worker_id)\n\n\n"
        "def f():\n    x = seed_worker_2\n    def seed_worker(): pass\n",
    ),
    (
        "import random\r\nif a:\r\n\tx = y\r\n",
        "import random\r\n\r\n\r\ndef seed_worker(worker_id):\r\n\trandom.seed(worker_id)\r\n\r\n\r\n"
        "if a:\r\n\tx = seed_worker\r\n",
    ),
]


@pytest.mark.parametrize(("text", "expected"), FUNCTIONS)
def test_a_function_is_added(text: str, expected: str) -> None:
    assert fixed(text, [SEED, Replace(place(text, "y"), "{seed_worker}")]) == expected
    use = place(expected, expected.split("x = ")[1].split()[0], number=1)  # behind the def's own name
    again = [SEED, Replace(use, "{seed_worker}")]
    assert refused(expected, again) == "nothing is left to change"


SETTINGS = [
    # what directly follows the imports stays with them
    "import random\n\nlogger = log()\nSIZES = (\n    1,\n)\nset_up(1)\n{}\n\ndef f():\n    x = {}\n",
    "import random\nA = 1\n{}\n\n# The work.\nclass C:\n    x = {}\n",
    "import random\n# ----\nA = 1\n# ----\n{}\n\nclass C:\n    x = {}\n",
    "import random\n\nA = 1\n{}\n\n@f\ndef f():\n    x = {}\n",
    "import random\n\nA = 1\n{}\n\nif __name__ == '__main__':\n    x = {}\n",
    # the script's own work begins there
    "import random\n{}\n\nA = 1\nfor _ in A:\n    b()\n\ndef f():\n    x = {}\n",
    "import random\n{}\n\nA = 1\nx = {}\n\ndef f():\n    pass\n",
    "import random\n{}\n\nA = 1\nx = {}\n",
    f"import random\n{{}}\n\n{'A = 1' * 60}\n\ndef f():\n    x = {{}}\n".replace("1A", "1\nA"),
]


@pytest.mark.parametrize("text", SETTINGS)
def test_a_function_is_added_below_the_settings(text: str) -> None:
    before = text.format("", "y").replace("\n\n\n", "\n\n")
    expected = text.format(f"\n\n{DEF}", "seed_worker")
    assert fixed(before, [SEED, Replace(place(before, "y"), "{seed_worker}")]) == expected


def test_an_equal_function_needs_no_import() -> None:
    text = f"{DEF}x = y\n"
    assert fixed(text, [SEED, Replace(place(text, "y"), "{seed_worker}")]) == f"{DEF}x = seed_worker\n"


def test_an_equal_function_with_decorators() -> None:
    cached = InsertFunction(PATH, "noise", "@{functools}.lru_cache(maxsize=32)\ndef {noise}(key):\n    return key")
    text = (
        "import functools\n\n@functools.lru_cache(maxsize=32)  # a few\ndef noise_of(key):\n    return key\n\nx = y\n"
    )
    assert fixed(text, [cached, Replace(place(text, "y"), "{noise}")]) == text.replace("= y", "= noise_of")
    other = text.replace("32)  #", "1)  #")
    assert "def noise(key)" in fixed(other, [cached, Replace(place(other, "y"), "{noise}")])


def test_an_equal_function_below_is_not_used_at_module_level() -> None:
    text = f"import random\nx = y\n{DEF}"
    after = (
        f"import random\n\n\ndef seed_worker_2(worker_id):\n    random.seed(worker_id)\n\n\nx = seed_worker_2\n{DEF}"
    )
    assert fixed(text, [SEED, Replace(place(text, "y"), "{seed_worker}")]) == after
    text = f"import random\ndef f():\n    x = y\n{DEF}"
    assert fixed(text, [SEED, Replace(place(text, "y"), "{seed_worker}")]) == text.replace("y\n", "seed_worker\n", 1)


def test_a_name_that_is_taken_and_not_marked_is_refused() -> None:
    text = "seed_worker = 1\nx = y\n"
    assert "taken" in refused(text, [SEED, Replace(place(text, "y"), "seed_worker")])


def test_the_alias_of_a_module_in_a_function() -> None:
    text = "import random as r\n\nx = y\n"
    after = "import random as r\n\n\ndef seed_worker(worker_id):\n    r.seed(worker_id)\n\n\nx = seed_worker\n"
    assert fixed(text, [SEED, Replace(place(text, "y"), "{seed_worker}")]) == after


def test_imports_of_a_statement() -> None:
    text = "import os\ndef f(ds):\n    g(ds)\n"
    intents = [InsertStatement(place(text, "g(ds)"), "{cv2}.setNumThreads(0)", "before")]
    assert fixed(text, intents) == "import os\n\nimport cv2\ndef f(ds):\n    cv2.setNumThreads(0)\n    g(ds)\n"


def test_what_an_import_binds_is_known_below_it() -> None:
    text = "import os\nimport cv2 as cv\n"
    intents = [InsertStatement(place(text, "import cv2 as cv", cst.Import), "{cv2}.setNumThreads(0)")]
    assert fixed(text, intents) == "import os\nimport cv2 as cv\ncv.setNumThreads(0)\n"


def test_strings_are_in_the_quotes_of_the_file() -> None:
    source = 'def {name}(o):\n    """Doc."""\n    return o["a"], "it\'s"  # "c"'
    intents = [InsertFunction(PATH, "get", source)]
    text = "import os\n\nx = f('a', 'b', 'c')\n"
    assert '    return o[\'a\'], "it\'s"  # "c"\n' in fixed(text, intents)
    assert '    """Doc."""\n' in fixed(text, intents)
    both = 'import os\n\nx = f("a", \'b\', "c")\n'
    assert '    return o["a"], "it\'s"  # "c"\n' in fixed(both, intents)
    known = "import os\n\n\ndef take(o):\n    return o['a']\n\n\nx = f('a', 'b', 'c')\n"
    intents = [InsertFunction(PATH, "get", 'def {name}(o):\n    return o["a"]'), Replace(place(known, "f"), "{get}")]
    assert fixed(known, intents) == known.replace("x = f(", "x = take(")


def test_calls_of_a_new_function_are_broken_whatever_is_as_long() -> None:
    arguments = ", ".join(f"name_{number}=self.name_{number}" for number in range(6))
    source = f"def {{name}}(self):\n    return make({arguments})"
    text = f"import os\n\n# {'-' * 160}\nx = 1\n"
    broken = fixed(text, [InsertFunction(PATH, "get", source)])
    assert "    return make(\n        name_0=self.name_0, name_1=self.name_1, " in broken
    assert max(len(line) for line in broken.splitlines() if "name" in line) <= 100
    assert f"    return make({arguments})\n" in fixed(text, [InsertFunction(PATH, "get", source)], 160)


TYPED = InsertFunction(PATH, "seed_worker", "def {name}(worker_id: int) -> None:\n    {random}.seed(worker_id)")
TYPED_DEF = "def seed_worker(worker_id: int) -> None:\n    random.seed(worker_id)\n"
TYPED_2 = TYPED_DEF.replace("    ", "  ")

ANNOTATED = [
    # all functions say what they return
    ("import random\n\n\ndef f(a: int) -> int:\n    x = y\n", TYPED_DEF),
    (
        "import random\n\n\nclass C:\n    def __init__(self): ...\n    def f(self, a=(1)) -> None:\n        x = y\n",
        TYPED_DEF,
    ),
    ("import random\n\n\n@d\nasync def f(\n    a=f(1),\n) -> list[int]:\n    x = y\n", TYPED_DEF),
    # one does not, or there is none
    ("import random\n\n\ndef f(a) -> None: ...\ndef g(a: int):\n    x = y\n", DEF),
    ("import random\n\n\nclass C:\n    def __init__(self) -> None:\n        x = y\n", DEF),
    ("import random\n\n\nx = y\n", DEF),
]


@pytest.mark.parametrize(("text", "added"), ANNOTATED)
def test_a_function_is_annotated_as_those_of_the_file(text: str, added: str) -> None:
    start, rest = text.split("\n\n\n")
    expected = f"{start}\n\n\n{added}\n\n{rest.replace('x = y', 'x = seed_worker')}"
    assert fixed(text, [TYPED, Replace(place(text, "y"), "{seed_worker}")]) == expected


def test_an_annotated_function_is_equal() -> None:
    for known in (DEF, TYPED_DEF, TYPED_DEF.replace("id: int) -> None", "id : int | None)  ->  None")):
        text = f"import random\n\n\n{known}\n\ndef f():\n    x = y\n"
        assert fixed(text, [TYPED, Replace(place(text, "y"), "{seed_worker}")]) == text.replace(
            "x = y", "x = seed_worker"
        )


def test_in_a_notebook_a_function_stands_near_its_use() -> None:
    path = PATH.with_suffix(".ipynb")
    text = "import random\n\nclass C: ...\n\na = 1\nx = y\n"
    use = replace(place(text, "y"), path=path)
    function = InsertFunction(path, SEED.name, SEED.source)
    edits = edits_for([function, Replace(use, "{seed_worker}")], Files({path: text}))
    assert not isinstance(edits, NoFix)
    assert apply(text, edits) == f"import random\n\nclass C: ...\n\na = 1\n\n\n{DEF}\n\nx = seed_worker\n"


def test_an_import_stands_above_the_from_imports_of_libraries() -> None:
    text = "from torch.utils.data import DataLoader\nfrom src.a import b\nfrom src import c\n\nx = y\n"
    expected = f"import numpy as np\n{text.replace('x = y', 'x = np.z')}"
    assert fixed(text, [Replace(place(text, "y"), "{numpy}.z")]) == expected


LINES_OF_A_BLOCK = "".join(f"    print({number})\n" for number in range(40))  # so many are cut into pieces of their own
IN_BLOCKS = [
    ("if __name__ == '__main__':\n    import torch, time\n{lines}    x()\n", False),
    ("if __name__ == '__main__':\n    import torch\n{lines}    def f(a):\n        x()\n", False),
    ("if __name__ == '__main__':\n    import torch\n{lines}    for a in b:\n        x()\n", False),
    ("if a:\n    import torch\n    x()\n", False),
    ("if a:\n    import torch\n    for b in c:\n        x()\n", False),
    # run too late, or perhaps not at all
    ("if a:\n    x()\n    import torch\n", True),
    ("if a:\n    if b:\n        import torch\n    x()\n", True),
    ("if a:\n    import torch\nelse:\n    x()\n", True),
    ("if __name__ == '__main__':\n{lines}    x()\n    import torch\n", True),
    ("if a:\n    import torch\n{lines}else:\n    print(1)\n    x()\n", True),
    ("if a:\n    if b: import torch\n{lines}    x()\n", True),
]


@pytest.mark.parametrize(("text", "is_new"), IN_BLOCKS)
def test_an_import_above_in_the_same_block_is_enough(text: str, is_new: bool) -> None:
    text = f"import os\n\n{text.replace('{lines}', LINES_OF_A_BLOCK)}"
    edited = fixed(text, [InsertStatement(place(text, "x()", cst.Expr), "{torch}.manual_seed(0)", "before")])
    assert "torch.manual_seed(0)\n" in edited
    assert edited.count("import torch") == text.count("import torch") + is_new


def test_a_call_in_a_file_without_settings_is_broken_as_the_others() -> None:
    call = f"y = make(data, {', '.join(f'name_{number}=1' for number in range(7))})\n"
    theirs = "x = f(\n    a,\n    b,\n)\n"
    aligned = "x = f(a,\n      b)\n"
    for above, is_exploded in ((theirs, True), (aligned, False), (theirs + aligned, False), ("", False)):
        text = above + call
        edited = fixed(text, [SetArgument(place(text, call.strip().removeprefix("y = "), cst.Call), "k", "a_value")])
        assert ("    k=a_value,\n)\n" in edited) is is_exploded


def test_a_long_string_does_not_make_a_line_longer_than_the_formatter_would() -> None:
    theirs = f'x = f(\n    a,\n    \'{"-" * 120}\',\n)\n"""\n{"-" * 120}\n"""\n# {"-" * 120}\n'
    call = f"y = make(data, {', '.join(f'name_{number}=1' for number in range(7))})\n"
    text = theirs + call
    edited = fixed(text, [SetArgument(place(text, call.strip().removeprefix("y = "), cst.Call), "k", "a_value")])
    assert "    k=a_value,\n)\n" in edited
    breakable = " + ".join(["a['b']"] * 12)  # a formatter lets it be as long
    text = f"z = {breakable}\n{text}"
    edited = fixed(text, [SetArgument(place(text, call.strip().removeprefix("y = "), cst.Call), "k", "a_value")])
    assert "name_6=1, k=a_value)\n" in edited
