"""Which configuration files a program may be run with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

FILES = """
--- conf/small.yaml
workers: 1
folder: small
--- conf/large.yaml
workers: 8
path: large
--- conf/alone.yaml
workers: 16
"""
PROGRAM = """
--- train.py
import sys
import yaml
from torch.utils.data import DataLoader


def main():
    with open(sys.argv[1]) as file:
        config = yaml.safe_load(file)
    {}
    loader = DataLoader(range(9), num_workers=config["workers"])
    return loader
"""
#: Code between the file and the loader, and the greatest number of workers of the files that it may be run with.
CODE = {
    "print()": 16,
    "print(config['folder'])": 1,
    "print(config['path'])": 8,
    "print(config['other'])": 16,
    "print(config.get('folder'))": 16,
    "print(config.get('other'), config['folder'])": 1,
    "if config['workers']: print(config['folder'])": 16,
    "for key in config: print(config['folder'])": 16,
    "with open(config['folder']) as text: print(text)": 1,
    "with open('x') as text: print(config['folder'])": 1,
    "config['folder'] = '.'; print(config['folder'])": 16,
    "config.update(sys.argv); print(config['folder'])": 16,
    "print(config['folder'], config['path'])": 16,
}


@pytest.mark.parametrize(("code", "workers"), CODE.items(), ids=CODE)
def test_a_file_has_the_keys_that_the_program_reads(code: str, workers: int, tmp_path: Path) -> None:
    linked = link(tmp_path, PROGRAM.format(code) + FILES)
    assert linked.loader().workers.most == workers
