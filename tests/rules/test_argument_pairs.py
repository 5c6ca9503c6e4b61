"""Which arguments of a loader torch rejects together, how sure that is, and what the fix does."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.findings.finding import Finding
from tests.rules.answers import answers, lines

CODE = """
import argparse, multiprocessing
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler
from torch.utils.data import IterDataPipe
parser = argparse.ArgumentParser()
parser.add_argument("--none", type=int, default=0)
parser.add_argument("--some", type=int, default=4)
parser.add_argument("--flag", action="store_true")
o = parser.parse_args()
class D(Dataset):
 def __getitem__(self, index): return index
class I(IterableDataset):
 def __iter__(self): yield 1
class P(IterDataPipe):
 def __iter__(self): yield 1
sampler = RandomSampler(D())
batches = BatchSampler(sampler, 2, True)
{}
loader = DataLoader({})
for batch in loader: pass
"""


def told(found: Finding) -> str:
    """The severity of a finding, its argument, when, which exception, and its fixes."""
    reason = found.message.partition(" (loader")[0]
    words = [*["possible"] * (found.certainty == "possible"), found.severity.value, f"{found.subject}:"]
    when = [word for word in ("there are none", "by default", "some callers", "may choose") if word in reason]
    fixes = [f"[{fix.safety}: {fix.title.replace('`', '')}]" for fix in found.fixes]
    error = next((one for one in ("ValueError", "TypeError", "AssertionError") if one in reason), "")
    return " ".join([*words, *when, error, *fixes])


def said(folder: Path, code: str) -> str:
    """What is said of a loader with these arguments; module-level code stands before ` | `."""
    above, _, arguments = code.rpartition(" | ")
    found = answers(folder, "conflicting-loader-arguments", CODE.format(lines(above), arguments))
    if found.findings:
        return " + ".join(sorted(map(told, found.findings)))
    return ", ".join(one.reason.replace("`", "'") for one in found.silences)


#: The arguments of a loader and what is said of them.
ARGUMENTS: dict[str, str] = {
    "D()": "",
    "D(), num_workers=-1": "error num_workers: ValueError",
    "D(), num_workers=0": "",
    "D(), num_workers=None": "error num_workers: TypeError",
    "D(), num_workers=2.0": "error num_workers: TypeError",
    "D(), num_workers=0.0": "",
    "D(), num_workers=True": "",
    "D(), num_workers=o.none": "",
    "D(), num_workers=load()": "",
    "D(), timeout=-1": "error timeout: ValueError",
    "D(), timeout=5": "error timeout: there are none AssertionError [safe: Drop timeout]",
    "D(), timeout=0": "",
    "D(), timeout=5, num_workers=2": "",
    "D(), timeout=o.some": "warning timeout: there are none AssertionError [safe: Drop timeout]",
    "D(), timeout=5, num_workers=o.none": (
        "warning timeout: there are none by default AssertionError [safe: Make timeout depend on num_workers]"
    ),
    "D(), timeout=5, num_workers=o.some": (
        "information timeout: may choose AssertionError [safe: Make timeout depend on num_workers]"
    ),
    "D(), timeout=o.some, num_workers=o.some": "'timeout' depends on two options, which may be set together",
    "D(), timeout=o.some, num_workers=o.none": (
        "warning timeout: there are none by default AssertionError [safe: Make timeout depend on num_workers]"
    ),
    "D(), timeout=o.none, num_workers=o.none": "",
    "D(), timeout=5, num_workers=load()": "",
    "D(), batch_size=0": "error batch_size: ValueError",
    "D(), batch_size=-3": "error batch_size: ValueError",
    "D(), batch_size=1": "",
    "D(), batch_size=None": "",
    "D(), batch_size=o.none": "",
    "D(), batch_size=0.5": "error batch_size: ValueError",
    "D(), prefetch_factor=-1, num_workers=2": "error prefetch_factor: ValueError",
    "D(), prefetch_factor=0, num_workers=2": "error prefetch_factor: AssertionError",
    "D(), prefetch_factor=0": "error prefetch_factor: there are none ValueError [safe: Drop prefetch_factor]",
    "D(), prefetch_factor=2": "error prefetch_factor: there are none ValueError [safe: Drop prefetch_factor]",
    "D(), prefetch_factor=None": "",
    "D(), prefetch_factor=2, num_workers=1": "",
    "D(), prefetch_factor=o.some": "warning prefetch_factor: there are none ValueError [safe: Drop prefetch_factor]",
    "D(), prefetch_factor=2 if o.some else None": (
        "possible information prefetch_factor: there are none ValueError [safe: Drop prefetch_factor]"
    ),
    "D(), prefetch_factor=2 if load() else None": (
        "possible information prefetch_factor: there are none ValueError [safe: Drop prefetch_factor]"
    ),
    "D(), persistent_workers=True": (
        "error persistent_workers: there are none ValueError [safe: Drop persistent_workers]"
    ),
    "D(), persistent_workers=False": "",
    "D(), persistent_workers=True, "
    "num_workers=0": "error persistent_workers: there are none ValueError [safe: Drop persistent_workers]",
    "D(), persistent_workers=True, num_workers=1": "",
    "D(), persistent_workers=o.flag": "",
    "D(), persistent_workers=load()": "",
    "D(), persistent_workers=True, num_workers=o.none": (
        "warning persistent_workers: there are none by default ValueError [safe: Make persistent_workers "
        "depend on num_workers]"
    ),
    "D(), persistent_workers=True, num_workers=o.some": (
        "information persistent_workers: may choose ValueError [safe: Make persistent_workers depend on num_workers]"
    ),
    "D(), persistent_workers=o.flag, num_workers=o.some": "",
    "D(), persistent_workers=o.some > 0, num_workers=o.some": "",
    "D(), persistent_workers=bool(o.some), "
    "num_workers=o.some": "'persistent_workers' depends on two options, which may be set together",
    "D(), persistent_workers=True, num_workers=0 if load() "
    "else 4": "possible information persistent_workers: some callers ValueError",
    "D(), persistent_workers=True if load() else False, num_workers=0": (
        "possible information persistent_workers: there are none ValueError [safe: Drop persistent_workers]"
    ),
    "D(), persistent_workers=True if load() else False, num_workers=0 if load() "
    "else 4": "'persistent_workers' depends on two options, which may be set together",
    "D(), persistent_workers=True, num_workers=load() "
    "or 0": "possible information persistent_workers: some callers ValueError",
    "D(), persistent_workers=1": "error persistent_workers: there are none ValueError [safe: Drop persistent_workers]",
    "D(), multiprocessing_context='fork'": (
        "error multiprocessing_context: there are none ValueError [safe: Drop multiprocessing_context]"
    ),
    "D(), multiprocessing_context='fork', num_workers=2": "",
    "D(), multiprocessing_context='thread', num_workers=2": "error multiprocessing_context: ValueError",
    "D(), multiprocessing_context='thread', "
    "num_workers=0": "error multiprocessing_context: there are none ValueError [safe: Drop multiprocessing_context]",
    "D(), multiprocessing_context=None": "",
    "D(), "
    "multiprocessing_context=multiprocessing.get_context('f"
    "ork')": "error multiprocessing_context: there are none ValueError [safe: Drop multiprocessing_context]",
    "D(), multiprocessing_context=load()": "",
    "D(), multiprocessing_context=multiprocessing.get_context('fork'), num_workers=1": "",
    "I(), shuffle=True": "error shuffle: ValueError [unsafe: Drop shuffle]",
    "I(), shuffle=False": "",
    "I(), shuffle=None": "",
    "I(), shuffle=o.flag": "",
    "I(), shuffle=load()": "",
    "I(), shuffle=True if load() else False": "possible information shuffle: ValueError [unsafe: Drop shuffle]",
    "I(), sampler=sampler": "error sampler: ValueError [unsafe: Drop sampler]",
    "I(), sampler=None": "",
    "I(), sampler=load()": "",
    "I(), sampler=[1, 2]": "error sampler: ValueError [unsafe: Drop sampler]",
    "I(), sampler=sampler if load() else None": "possible information sampler: ValueError [unsafe: Drop sampler]",
    "I(), sampler=sampler if load() else load()": "",
    "I(), batch_sampler=batches": "error batch_sampler: ValueError [unsafe: Drop batch_sampler]",
    "I(), batch_sampler=batches, sampler=sampler": (
        "error batch_sampler: ValueError [unsafe: Drop batch_sampler] + error sampler: ValueError "
        "[unsafe: Drop sampler]"
    ),
    "I(), drop_last=True": "",
    "I(), batch_size=None, drop_last=True": "error drop_last: ValueError [safe: Drop drop_last]",
    "P(), shuffle=True": "",
    "I() if load() else D(), shuffle=True": "",
    "load(), shuffle=True": "",
    "D(), shuffle=True": "",
    "D(), shuffle=True, sampler=sampler": "error shuffle: ValueError [safe: Drop shuffle]",
    "D(), shuffle=True, sampler=None": "",
    "D(), shuffle=False, sampler=sampler": "",
    "D(), shuffle=o.flag, sampler=sampler": "",
    "D(), shuffle=True, sampler=load()": "",
    "D(), shuffle=True, sampler=sampler if load() else None": "possible information shuffle: ValueError",
    "D(), shuffle=True if load() else False, sampler=sampler if load() "
    "else None": "'shuffle' depends on two options, which may be set together",
    "D(), shuffle=True, sampler=[1, 2]": "error shuffle: ValueError [safe: Drop shuffle]",
    "D(), batch_sampler=batches": "",
    "D(), batch_sampler=batches, batch_size=2": "error batch_size: ValueError [safe: Drop batch_size]",
    "D(), batch_sampler=batches, batch_size=1": "",
    "D(), batch_sampler=batches, batch_size=None": "error batch_size: ValueError [safe: Drop batch_size]",
    "D(), batch_sampler=batches, batch_size=o.some": "warning batch_size: ValueError [safe: Drop batch_size]",
    "D(), batch_sampler=batches, shuffle=True": "error shuffle: ValueError [safe: Drop shuffle]",
    "D(), batch_sampler=batches, shuffle=False": "",
    "D(), batch_sampler=batches, drop_last=True": "error drop_last: ValueError [safe: Drop drop_last]",
    "D(), batch_sampler=batches, drop_last=False": "",
    "D(), batch_sampler=batches, sampler=sampler": "error sampler: ValueError [unsafe: Drop sampler]",
    "D(), batch_sampler=None, batch_size=2": "",
    "D(), batch_sampler=load(), batch_size=2": "",
    "D(), batch_sampler=batches if load() else None, batch_size=2": "possible information batch_size: ValueError",
    "D(), batch_sampler=batches, batch_size=2, shuffle=True, drop_last=True": (
        "error batch_size: ValueError [safe: Drop batch_size] + error drop_last: ValueError [safe: Drop "
        "drop_last] + error shuffle: ValueError [safe: Drop shuffle]"
    ),
    "D(), batch_size=None, drop_last=True": "error drop_last: ValueError [safe: Drop drop_last]",
    "D(), batch_size=None, drop_last=False": "",
    "D(), batch_size=None, drop_last=o.flag": "",
    "D(), batch_size=None if load() else 2, drop_last=True": "possible hint drop_last: ValueError",
    "D(), batch_size=2, drop_last=True": "",
    "D(), 2, True, sampler": "error shuffle: ValueError",
    "D(), 2, True, sampler, None, 0, None, False, "
    "False, 5": "error shuffle: ValueError + error timeout: there are none AssertionError",
    "D(), **{'timeout': 5}": "error timeout: there are none AssertionError",
    "k = {'timeout': 5} | D(), **k": "error timeout: there are none AssertionError",
    "k = dict(timeout=5, num_workers=0) | D(), **k": "error timeout: there are none AssertionError",
    "n = 0 | D(), num_workers=n, timeout=5": (
        "error timeout: there are none AssertionError [safe: Make timeout depend on num_workers]"
    ),
    "def f(n): return list(DataLoader(D(), num_workers=n, timeout=5)); f(0); f(2) | D()": (
        "possible information timeout: some callers AssertionError [safe: Make timeout depend on num_workers]"
    ),
    "def f(n): return list(DataLoader(D(), num_workers=n, timeout=5)); "
    "f(0) | D()": "error timeout: there are none AssertionError [safe: Make timeout depend on num_workers]",
}


@pytest.mark.parametrize("code", ARGUMENTS)
def test_which_arguments_conflict(code: str, tmp_path: Path) -> None:
    assert said(tmp_path, code) == ARGUMENTS[code]
