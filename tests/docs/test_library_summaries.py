"""The summaries of libraries: how code is reduced, and what the package ships."""

from __future__ import annotations

import ast
import textwrap

import pytest
from packaging.version import Version

from loaderlint.project.versions.environment import version_set
from loaderlint.sources import library_summaries
from scripts import reduced_code
from scripts.reduced_code import Module


def reduced(text: str, path: str = "somelib/__init__.py") -> str:
    tree = ast.parse(textwrap.dedent(text))
    name = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return reduced_code.reduced([Module(name, path, tree)])[path]


def test_nothing_of_the_text_is_left_but_interfaces_and_effects() -> None:
    text = reduced(
        '''
        """A docstring."""
        import logging
        import math

        import numpy as np

        logger = logging.getLogger("somelib")  # a comment

        def distance(first: "Point", second: "Point", *, scale: float = 1.5) -> float:
            """How far."""
            dx = first.x - second.x
            dy = first.y - second.y
            logger.debug("a message of some length: %s", dx)
            return math.hypot(dx, dy) * scale

        def jitter(image, sigma=0.1):
            noise = np.random.normal(0, sigma, image.shape)
            if noise.max() > 3 * sigma:
                logger.warning("much noise")
            return np.clip(image + noise, 0, 255)
        '''
    )
    expected = """
        import numpy as np
        logger = _

        def distance(first, second, *, scale=1.5):
            return _

        def jitter(image, sigma=0.1):
            np.random.normal(0, sigma, image.shape)
            return _
        """
    assert text.split() == textwrap.dedent(expected).split()


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("return None", "return None"),
        ("if x.size > 3: return None\nreturn x * 2", "if _:\n    return None\nreturn _"),
        ("if x.size > 3: return x * 2", "if _:\n    return _"),
        ("raise NotImplementedError('a text of its own')", "raise _"),
        ("while True:\n    if x.read() > 3: return x * 2", "return _"),
        ("return x[1:]", "return x[1:]"),
        ("y = x.copy()\ny[0] = 1\nreturn y", "return _"),
        (
            "y = x.copy()\ny[0] = random.random()\nreturn y",
            "v1 = x.copy()\nv1[0] = random.random()\nreturn v1",
        ),
        ("x[0] = x[1] + 1\nreturn x", "x[0] = _\nreturn x"),
        ("x += 1\nreturn x", "x += 1\nreturn x"),
        ("return self.transform(x + 1)", "return self.transform(_)"),
        ("return [self.transform(i) for i in x]", "return [self.transform(v1) for v1 in x]"),
        ("for step in self.steps:\n    x = step(x)\nreturn x", "for v1 in self.steps:\n    x = v1(x)\nreturn x"),
        (
            "for i, step in enumerate(x):\n    y = step(i)\n    print(i)",
            "for v1, v2 in enumerate(x):\n    v2(v1)",
        ),
        ("step = self.steps[0]\nreturn step(x * 2)", "v1 = self.steps[0]\nreturn v1(_)"),
        ("step = make()\nreturn step(x)", "return _"),
        ("for kind in (int, float):\n    print(kind(x))", "pass"),
        ("return np.stack([random.random() * i for i in x])", "random.random()\nreturn np.stack([_ for v1 in x])"),
        ("return x.mean(random.random())", "random.random()\nreturn _"),
        ("if self.file is None:\n    self.file = open('a b')", "if self.file is None:\n    self.file = open(_)"),
        ("try:\n    yield x * 2\nfinally:\n    total = x + 1", "yield _"),
    ],
)
def test_what_a_function_does(body: str, kept: str) -> None:
    """What edits, draws, opens, calls back and returns stays; what may end without a value still may."""
    whole = f"""
class Thing:
    def __init__(self, transform):
        self.transform = transform
        self.file = None

    def run(self, x):
{textwrap.indent(body, " " * 8)}
"""
    text = reduced(f"import random\nimport numpy as np\n{whole}")
    (thing,) = (one for one in ast.parse(text).body if isinstance(one, ast.ClassDef))
    run = next(one for one in thing.body if isinstance(one, ast.FunctionDef) and one.name == "run")
    assert "\n".join(map(ast.unparse, run.body)) == kept


def test_a_function_with_an_effect_keeps_those_that_call_it() -> None:
    text = reduced(
        """
        import random

        def draw():
            return random.random() + 1

        def twice():
            first = draw()
            return first * 2

        def calm():
            return other() * 2
        """
    )
    assert "draw()\n    return _" in text.partition("def twice")[2]
    assert "other" not in text


def test_a_method_that_calls_what_it_holds_keeps_those_that_call_it() -> None:
    text = reduced(
        """
        class Base:
            def __init__(self, pipeline):
                self.pipeline = pipeline

            def prepare(self, index):
                return self.pipeline(index)

            def __getitem__(self, index):
                item = self.prepare(index)
                return item if item.size > 3 else None
        """
    )
    assert "self.prepare(index)" in text.partition("def __getitem__")[2]


def test_what_one_class_holds_is_called_though_another_has_a_method_of_the_name() -> None:
    text = reduced(
        """
        class Images:
            def __init__(self, transform):
                self.transform = transform

            def __getitem__(self, index):
                image = self.transform(index + 1)
                return image * 2

        class Crop:
            def transform(self, image):
                return image * 2
        """
    )
    assert "self.transform(_)" in text.partition("def __getitem__")[2]


@pytest.mark.parametrize(
    ("hook", "is_called"),
    [
        ("return x, y", True),
        ("return x", True),
        ("'What to do with an item.'", True),
        ("raise NotImplementedError", True),
        ("return x + 1, y", False),
        ("return 1, 2", False),
    ],
)
def test_a_method_that_is_there_to_be_overridden_is_called(hook: str, is_called: bool) -> None:
    text = reduced(
        f"""
        class Table:
            def __getitem__(self, index):
                x, y = self.rows[index] * 2
                return self.prepared(x, y)

            def prepared(self, x, y):
                {hook}
        """
    )
    assert ("self.prepared(" in text) == is_called


def test_a_hook_with_a_common_name_is_called_on_the_object_itself_only() -> None:
    text = reduced(
        """
        class Table:
            def __getitem__(self, index):
                print(self.known.get(index * 2))
                return self.get(index + 1)

            def get(self, index):
                raise NotImplementedError
        """
    )
    assert "self.get(" in text and "known" not in text


def test_a_name_that_an_import_binds_in_a_function_stays() -> None:
    text = reduced(
        """
        def loaders():
            if 1 + 1:
                from torch.utils.data import DataLoader, Pool
            else:
                from torch.utils.data import DataLoader
                Pool = DataLoader
            return DataLoader, Pool

        Feed, Pool = loaders()
        """
    )
    assert "return (DataLoader, Pool)" in text and "Feed, Pool = loaders()" in text


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("data = Images(root + '/x')\nreturn data", "v1 = Images(_)\nreturn v1"),
        ("data = Images(root)\nreturn data, len(root)", "v1 = Images(root)\nreturn (v1, _)"),
        ("data = CIFAR10(root)\nreturn data", "v1 = CIFAR10(root)\nreturn v1"),
        ("kind = KINDS[root]\ndata = kind(root)\nreturn data", "v1 = KINDS[root]\nv2 = v1(root)\nreturn v2"),
        ("data = Images(root)\nreturn data.size", "return _"),
        ("data = Images(root)\nreturn len(root)", "return _"),
        ("data = other.Images(root)\nreturn data", "return _"),
        ("size = measure(root)\nreturn size", "return _"),
    ],
)
def test_what_a_function_makes_and_gives(body: str, kept: str) -> None:
    """An object of one of the library's classes, or of torchvision's datasets, with what it is made of."""
    text = reduced(
        f"""
import other
from torchvision.datasets import CIFAR10

class Images:
    def __init__(self, root):
        self.root = root

KINDS = dict(images=Images)

def create(root):
{textwrap.indent(body, " " * 4)}
"""
    )
    create = next(one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef))
    given = ast.Module([one for one in create.body if not isinstance(one, ast.If)], [])
    assert ast.unparse(given) == kept


@pytest.mark.parametrize(
    ("copy", "kept"),
    [
        ("{k: v for k, v in kwargs.items()}", "{v1: v2 for v1, v2 in kwargs.items()}"),
        (
            "{k: v for k, v in kwargs.items() if v is not None}",
            "{v1: v2 for v1, v2 in kwargs.items() if v2 is not None}",
        ),
        ("{k: v for k, v in kwargs.items() if k != 'size'}", "{v1: v2 for v1, v2 in kwargs.items() if _}"),
        ("{k: v + 1 for k, v in kwargs.items()}", "_"),
        ("{k: v for k, v in other(kwargs)}", "_"),
        ("{v: k for k, v in kwargs.items()}", "_"),
    ],
)
def test_options_that_a_function_copies(copy: str, kept: str) -> None:
    text = reduced(f"def create(make, **kwargs):\n    kwargs = {copy}\n    return make(**kwargs)")
    assert f"    kwargs = {kept}\n" in text


def test_what_ships_can_be_read_and_is_small() -> None:
    shipped = library_summaries.releases()
    assert len({one.library for one in shipped}) >= 40
    assert sum(path.stat().st_size for path in library_summaries.FOLDER.iterdir()) <= 3_000_000
    listed = {library_summaries.INDEX, *(one.file for one in shipped)}
    assert {path.name for path in library_summaries.FOLDER.iterdir()} == listed


@pytest.mark.parametrize("release", library_summaries.releases(), ids=lambda one: one.file)
def test_a_summary_is_code_without_texts(release: library_summaries.Release) -> None:
    modules = library_summaries.read(release)
    assert len(modules) == release.modules and library_summaries.unpacked(library_summaries.packed(modules)) == modules
    for path, text in modules.items():
        assert "#" not in text or "'#" in text, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                assert ast.get_docstring(node) is None, path
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert len(node.value) <= 32 and " " not in node.value, path


@pytest.mark.parametrize(
    ("declared", "version"),
    [("", "2.1.0"), ("<2", "1.7.1"), (">=1.3", "2.1.0"), ("==1.3.9", "1.7.1"), ("==1.7.2", "1.7.1"), ("==3.0", "")],
)
def test_a_project_gets_the_release_that_it_declares(declared: str, version: str) -> None:
    packages = {"mmcv-full": version_set(declared, "requirements.txt")} if declared else {}
    found = [one.version for one in library_summaries.fitting(packages) if one.library == "mmcv"]
    assert found[:1] == ([version] if version else [])
    assert found == sorted(found, key=Version, reverse=True)
