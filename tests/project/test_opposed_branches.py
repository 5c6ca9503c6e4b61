"""Which loaders run a line, where a choice such as `args.mode` decides about the line and about the loader."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.rules.answers import answers

HEAD = """
import argparse
import numpy as np
from torch.utils.data import DataLoader, Dataset
class Frames(Dataset):
    def __init__(self, is_train=True, noise=None, size=3):
        self.is_train, self.size = is_train, size
        self.noise = noise
        self.rng = np.random.default_rng(0)
    def __getitem__(self, i):
        if self.is_train:
            return self.rng.random()
        return i if self.noise is None else self.noise(i)
class Noise:
    def __init__(self):
        self.own = np.random.default_rng(1)
    def __call__(self, i):
        return i + self.own.random()
class Plain:
    def __call__(self, i):
        return i
def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="train")
    parser.add_argument("--phase", default="train")
    parser.add_argument("--size", default="train")
    return parser.parse_args()
"""
#: The body of a program that makes `DATA`, and then a loader for each mode.
IN_FUNCTIONS = """
def main():
    args = options()
    data = DATA
    if args.mode == "train":
        train(data)
    elif args.mode == "animate":
        animate(data)
def train(data):
    first = DataLoader(data, num_workers=4)
def animate(data):
    second = DataLoader(data, num_workers=4)
"""
IN_OBJECTS = """
class Trainer:
    def __init__(self, data):
        self.data = data
    def run(self):
        first = DataLoader(self.data, num_workers=4)
class Animator:
    def __init__(self, data):
        self.data = data
    def run(self):
        second = DataLoader(self.data, num_workers=4)
def main():
    args = options()
    data = DATA
    if args.mode == "train":
        program = Trainer(data)
    else:
        program = Animator(data)
    program.run()
"""
FARTHER = """
def main():
    args = options()
    data = DATA
    if args.mode == "train":
        start(data)
    if args.mode == "animate":
        animate(data)
def start(data):
    train(data)
def train(data):
    first = DataLoader(data, num_workers=4)
def animate(data):
    second = DataLoader(data, num_workers=4)
"""
ANYWHERE = """
def main():
    args = options()
    data = DATA
    if args.mode == "animate":
        animate(data)
    train(data)
    animate(data)
def train(data):
    first = DataLoader(data, num_workers=4)
def animate(data):
    second = DataLoader(data, num_workers=4)
"""
BY_SEVERAL_TESTS = """
def main():
    args = options()
    data = DATA
    if args.mode != "animate" and args.mode != "show":
        train(data)
    else:
        animate(data)
def train(data):
    first = DataLoader(data, num_workers=4)
def animate(data):
    second = DataLoader(data, num_workers=4)
"""
#: How the data is made if only training draws.
FOR_TRAINING = [
    'Frames(is_train=(args.mode == "train"))',
    'Frames(args.mode == "train", size=1)',
    'Frames(is_train=not (args.mode != "train"))',
    'Frames(False, Noise() if args.mode == "train" else Plain())',
    'Frames(False, Plain() if args.mode != "train" else Noise())',
    'Frames(is_train=(args.size and args.mode == "train"))',
]
#: How it is made if another mode than the animation may draw.
FOR_OTHERS = [
    'Frames(is_train=args.mode in ("train", "fit"))',
    'Frames(is_train=args.mode not in ("animate", "show"))',
    'Frames(is_train=(args.mode == "train" or args.mode == "fit"))',
    'Frames(is_train=not (args.mode == "animate" or args.mode == "show"))',
]
#: How it is made if the animation may draw, too.
FOR_BOTH = [
    'Frames(is_train=(args.mode in ("train", "animate")))',
    'Frames(is_train=(args.mode == "train" or args.size == 3))',
    'Frames(is_train=(args.mode != "train" or args.mode != "animate"))',
    'Frames(is_train=(args.mode not in ("test", "fit")))',
    "Frames(is_train=(args.mode in args.sizes))",
]


@pytest.mark.parametrize("made", FOR_TRAINING)
@pytest.mark.parametrize("program", [IN_FUNCTIONS, IN_OBJECTS, FARTHER, BY_SEVERAL_TESTS])
def test_the_loader_of_another_mode_does_not_draw(program: str, made: str, tmp_path: Path) -> None:
    assert _loaders_of_the_finding(tmp_path, program, made) == {"first"}


@pytest.mark.parametrize(
    "made",
    [
        'Frames(is_train=(args.phase == "train"))',
        'Frames(is_train=(args.mode != "test"))',
        'Frames(size=(args.mode == "train"))',
        "Frames(is_train=True)",
        'Frames(False, Noise() if args.size == "train" else Plain())',
        'Frames(False, Noise() if args.mode != "test" else Plain())',
        "Frames(False, Noise())",
        *FOR_BOTH,
    ],
)
@pytest.mark.parametrize("program", [IN_FUNCTIONS, IN_OBJECTS, FARTHER, BY_SEVERAL_TESTS])
def test_the_loader_of_another_mode_draws(program: str, made: str, tmp_path: Path) -> None:
    assert _loaders_of_the_finding(tmp_path, program, made) == {"first", "second"}


@pytest.mark.parametrize("made", FOR_TRAINING)
def test_a_loader_that_is_made_in_any_mode_draws(made: str, tmp_path: Path) -> None:
    assert _loaders_of_the_finding(tmp_path, ANYWHERE, made) == {"first", "second"}


@pytest.mark.parametrize("made", FOR_OTHERS)
@pytest.mark.parametrize("program", [IN_FUNCTIONS, FARTHER, BY_SEVERAL_TESTS])
def test_the_animation_does_not_draw(program: str, made: str, tmp_path: Path) -> None:
    assert _loaders_of_the_finding(tmp_path, program, made) == {"first"}


@pytest.mark.parametrize("made", FOR_OTHERS)
def test_another_mode_than_training_may_draw(made: str, tmp_path: Path) -> None:
    assert _loaders_of_the_finding(tmp_path, IN_OBJECTS, made) == {"first", "second"}


def test_the_data_is_made_in_a_branch(tmp_path: Path) -> None:
    program = """
        def main():
            args = options()
            if args.mode == "train":
                data = Frames()
            else:
                data = Frames(False)
            if args.mode == "train":
                first = DataLoader(data, num_workers=4)
            else:
                second = DataLoader(data, num_workers=4)
    """
    assert _loaders_of_the_finding(tmp_path, textwrap.dedent(program), "") == {"first"}


def _loaders_of_the_finding(folder: Path, program: str, made: str) -> set[str]:
    (finding,) = answers(folder, "shared-generator", HEAD + program.replace("DATA", made)).findings
    assert (finding.certainty, finding.severity.value) == ("proven", "error")
    told = " ".join([finding.message, *(one.message for one in finding.evidence)])
    return {name for name in ("first", "second") if f"`{name}`" in told}
