"""On which paths a sample is None: for some samples, after an exception, as a part; and on which it cannot be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loaderlint.findings.finding import Finding
from tests.rules.answers import answers, lines

CODE = """
import contextlib, os, sys
import cv2, torch
import numpy as np
from torch.utils.data import DataLoader, Dataset
{}
class D(Dataset):
 def __init__(self, items, mode="train", strict=False):
  self.items, self.mode, self.strict = items, mode, strict
  self.kind = load()
 def helper(self, index):
{}
 def __getitem__(self, index):
{}
loader = DataLoader(D(load(), load(), load()), num_workers=2)
"""
MESSAGE = re.compile(r"`(.*)` (returns|puts) None(?: into a sample)?( for some samples| after an exception|)(,.*)$")


def told(found: Finding) -> str:
    """The severity of a finding, and what it says: `held` if a part of the sample is None, `end` if a function comes to
    its end, `fix` if there is one."""
    match = MESSAGE.match(found.message)
    assert match is not None
    where, verb, when, rest = match.groups()
    words = [found.severity.value, *[where] * (where != "D.__getitem__"), *["held"] * (verb == "puts")]
    ends = ["end"] * ("it ends without a `return`" in rest)
    ends += ["passed on"] * any("returns the result of" in one.message for one in found.evidence)
    return " ".join([*words, *[when.strip()] * bool(when), *ends, *["fix"] * bool(found.fixes)])


def said(folder: Path, code: str) -> str:
    """What is said of the samples of a dataset.

    Module-level code stands before ` | `, that of a helper before ` / `."""
    above, _, inside = code.rpartition(" | ")
    helper, _, sample = inside.rpartition(" / ")
    text = CODE.format(lines(above), lines(helper or "return 3", 2), lines(sample, 2))
    return " | ".join(sorted(map(told, answers(folder, "none-sample", text).findings)))


#: Code of `__getitem__`, and what is said of it. `; ` ends a line, and more spaces after it indent the next one.
PATHS: dict[str, str] = {
    "x = load(index); if x.bad: return None; return x": "error for some samples",
    "x = load(index); if x.bad: return; return x": "error for some samples",
    "x = load(index); if index > 3: return None; return x": "",
    "if index > 3: return None; return load(index)": "",
    "if index: return None; return load(index)": "",
    "if index in self.items: return None; return load(index)": "error for some samples",
    "if index not in self.items: return None; return load(index)": "error for some samples",
    "if self.items[index]: return None; return load(index)": "error for some samples",
    "if index % 2 == 0: return None; return load(index)": "",
    "if -index == 2: return None; return load(index)": "",
    "if self.strict: return None; return load(index)": "",
    "if self.strict and load(index): return None; return load(index)": "information for some samples",
    "if isinstance(index, slice): return None; return load(index)": "",
    "if hasattr(index, 'start'): return None; return load(index)": "",
    "if callable(self.items[index]): return None; return load(index)": "",
    "if load(): return None; return load(index)": "",
    "if load(self.mode): return None; return load(index)": "",
    "if load(n=index): return None; return load(index)": "error for some samples",
    "if self.items[0].get(index): return None; return load(index)": "error for some samples",
    "if load(index).bad: return None; return load(index)": "error for some samples",
    "if not load(index): return None; return load(index)": "error for some samples",
    "if load(index) or self.strict: return None; return load(index)": "error for some samples",
    "if self.strict:;  if load(index): return None; return load(index)": "information for some samples",
    "if load(index):;  if self.strict: return None; return load(index)": "information for some samples",
    "if load(index):;  if np.random.rand() < 0.5: return None; return load(index)": "warning for some samples",
    "if load(index) and self.strict: return None; return load(index)": "information for some samples",
    "if not (load(index) and self.strict): return load(index); return None": "information for some samples",
    "if not load(index) or not self.strict: return load(index); return None": "information for some samples",
    "match self.strict:;  case 1:;   if load(index): return None; return load(index)": "information for some samples",
    "if load(index):;  if hasattr(self.strict, 'x'): return None; return load(index)": "information for some samples",
    "if index > 3:;  if load(index): return None; return load(index)": "error for some samples",
    "x, y = load(index); if y: return None; return x": "error for some samples",
    "x, y = load(index), 1; if y: return None; return x": "",
    "for x in load(index):;  if x: return None; return load(index)": "error for some samples",
    "for x in self.items:;  if x: return None; return load(index)": "",
    "with load(index) as x:;  if x: return None; return load(index)": "error for some samples",
    "with load() as x:;  if x: return None; return load(index)": "",
    "x = f'{load(index)}'; if x: return None; return load(index)": "error for some samples",
    "x = f'{index}'; if x: return None; return load(index)": "",
    "x = [y for y in load(index)]; if x: return None; return x": "error for some samples",
    "x = [y for y in self.items if y == index]; if x: return None; return x": "",
    "x = [load(index), 1]; if x: return None; return x": "error for some samples",
    "x = (1, 2); if x: return None; return load(index)": "",
    "x = load(index) if self.strict else 1; if x: return None; return x": "error for some samples",
    "x = 1 if load(index) else 2; if x: return None; return x": "error for some samples",
    "x = 1; x += load(index); if x: return None; return x": "error for some samples",
    "x = 1; if self.strict: x = load(index); if x: return None; return x": "error for some samples",
    "if load(*self.items[index]): return None; return 1": "error for some samples",
    "if False: return None; return load(index)": "",
    "if True: return load(index); return None": "",
    "try: return load(index); except OSError: return None": "error after an exception fix",
    "try: return load(index); except: return None": "error after an exception fix",
    "try: return load(index); except ImportError: return None": "",
    "try: return load(index); except ModuleNotFoundError: return None": "",
    "try: return load(index); except (OSError, ImportError): return None": "error after an exception fix",
    "try: return load(index); except Exception as e: print(e)": "error after an exception end",
    "try: return load(index); except Exception as e:;  print(e);  raise": "",
    "try: return load(index); except Exception as e: raise ValueError from e": "",
    "try: return load(index); except Exception: sys.exit(1)": "",
    "try: return load(index); except Exception: os._exit(1)": "",
    "try: return load(index); except Exception: breakpoint()": "",
    "try: return load(index); except Exception: self.fail()": "",
    "try: return load(index); except Exception:;  if self.strict: raise": "information after an exception end",
    "try: return load(index); except Exception:;  if self.strict: raise;  return 3": "",
    "try: return load(index); except OSError: print(1); except ValueError: raise": "error after an exception end",
    "try: return load(index); except OSError: raise; except ValueError: raise": "",
    "try: x = load(index); except OSError: print(1); else: return x": "error after an exception end",
    "try: x = load(index); except OSError: raise; else: return x": "",
    "try: x = load(index); except OSError: return 3; else: return x": "",
    "try: return load(index); finally: print(1)": "",
    "try: return load(index); except OSError: print(1); finally: print(2)": "error after an exception end",
    "try: print(1); except OSError: print(1); finally: return load(index)": "",
    "try: x = load(index); except OSError: print(1); return load(index)": "",
    "try: x = load(index); except OSError: return None; return x": "error after an exception fix",
    "try: x = load(index); except OSError: x = None; return x": "error after an exception",
    "try: x = load(index); except OSError: x = 3; return x": "",
    "try: x = load(index); except OSError: x = None; return x, 1": "error held after an exception",
    "try: x = load(index); except OSError: x = None; if x is None: x = 3; return x": "",
    "try: x = load(index); except OSError: x = None; if x: print(x); return x": "",
    "try:;  if self.strict: return load(index); except OSError: print(1)": "error after an exception end",
    "with contextlib.suppress(OSError): return load(index)": "error after an exception end",
    "with contextlib.suppress(OSError):;  return load(index); return 3": "",
    "with open(index) as f: return load(f)": "",
    "with open(index) as f: x = load(f); return x": "",
    "with open(index) as f:;  if f.read(): return load(f)": "error for some samples end",
    "with open(index) as f: return None, load(f)": "error held",
    "with open(index) as f: return None": "",
    "while True:;  try: return load(index);  except OSError: print(1)": "",
    "while 1:;  try: return load(index);  except OSError: print(1)": "",
    "while True:;  x = load(index);  if x: return x": "",
    "while True:;  x = load(index);  if x: break; return x": "",
    "while True:;  x = load(index);  if x: break": "",
    "while load(index): return 1": "",
    "while self.strict:;  return load(index)": "",
    "for n in range(3):;  try: return load(index);  except OSError: print(n)": "error after an exception end",
    "for n in range(3):;  try: return load(index);  except OSError: continue": "error after an exception end",
    "for n in range(3):;  try: return load(index);  except OSError: raise": "",
    "for n in range(3):;  if load(n): return n": "",
    "for n in range(3): return n": "",
    "for n in range(3):;  if load(n): return n; return 3": "",
    "if load(index): return 1": "error for some samples end",
    "if load(index): return 1; else: print(1)": "error for some samples end",
    "if load(index): return 1; else: return 2": "",
    "if load(index): return 1; else: raise ValueError": "",
    "if load(index): print(1); else: return 1": "error for some samples end",
    "if load(index): return 1; elif load(index + 1): return 2": "",
    "if load(index): return 1; elif load(index + 1): return 2; else: return 3": "",
    "if load(index): return 1; elif load(index + 1): return 2; else: print(1)": "",
    "if self.mode == 'a': return load(index); elif self.mode == 'b': return 2": "",
    "if self.mode == 'a': return load(index)": "",
    "if self.mode in ('a', 'b'): return load(index)": "",
    "if self.mode != 'a': return load(index)": "",
    "if load(index) == 'a': return load(index)": "",
    "if load(index) == 0: return load(index)": "error for some samples end",
    "try: x = load(index); except OSError: x = 3; else: return x": "error after an exception end",
    "try: print(index); except OSError: raise; else: return load(index); finally: print(2)": "",
    "try: print(index); except OSError: return 3; else: print(1)": "",
    "try: return load(index); except OSError: print(1); finally: raise ValueError": "",
    "try:;  try: return load(index);  except OSError: print(1); except ValueError: raise": "",
    "try:;  try: return load(index);  except OSError: raise; "
    "except ValueError: print(2)": "error after an exception end",
    "if load(index):;  try: return load(index);  except OSError: print(1)": "error after an exception end",
    "with torch.no_grad():;  if load(index): return 3": "error for some samples end",
    "if load(index):;  return 3;  print(4)": "error for some samples end",
    "def stop(): raise ValueError | try: return load(index); except OSError: stop()": "error after an exception end",
    "if load(index) in self.items: return load(index)": "",
    "if load(index) == 1 and self.strict: return load(index)": "",
    "if load(index) > 1 and load(index) < 3: return load(index)": "error for some samples end",
    "if load(index) is not None: return load(index)": "error for some samples end",
    "match load(index):;  case 1: return 1": "",
    "match load(index):;  case 1: return 1;  case _: return 2": "",
    "match self.mode:;  case 'a':;   with open(index): return 1": "",
    "return None": "",
    "pass": "",
    "return load(index) if self.items[index] else None": "error for some samples",
    "return None if self.items[index] else load(index)": "error for some samples",
    "return load(index) if self.strict else None": "",
    "return load(index) if index > 3 else None": "",
    "return None if index in self.items else load(index)": "error for some samples",
    "return load(index), None": "error held",
    "return [load(index), None]": "error held",
    "return {'x': load(index), 'y': None}": "error held",
    "return {**load(index), 'y': None}": "error held",
    "return {load(index), None}": "",
    "return dict(x=load(index), y=None)": "",
    "return load(index), (1, None)": "error held",
    "return (load(index), None) if load(index) else 3": "error held",
    "return (load(index), None) if self.strict else 3": "information held",
    "if self.strict:;  with open(index): return None, load(index); return 3": "",
    "with open(index):;  if self.strict: return None, load(index); return 3": "",
    "with open(index):;  if load(index): return None, load(index); return 3": "error held for some samples",
    "with open(index):;  try: return None, load(index);  except OSError: return 3": "",
    "if index: return 3; while True: load(index)": "",
    "if index: return 3; while True:;  if load(index): return 4": "",
    "return load(index) or None": "",
    "x = {}; return x.get(index)": "",
    "if self.strict: return load(index), None; return load(index), 1": "",
    "if load(index): return load(index), None; return load(index), 1": "error held for some samples",
    "return load(index), 1 if self.items[index] else None": "error held for some samples",
    "x = None; return x": "",
    "x = None; return load(index), x": "error held",
    "x = None; if load(index): x = 3; return x": "",
    "x = load(index); if x is None: return None; return x": "",
    "x = cv2.imread(index); if x is None: return None; return x": "error for some samples",
    "x = cv2.imread(index); if x is not None: return x; return None": "error for some samples",
    "x = cv2.imread(index); if x is None: return x; return x": "",
    "x = index; if self.strict: x = load(index); if x is None: return None; return x": "",
    "x = self.items[index]; if x is None: return None; return x": "error for some samples",
    "x = self.items.get(index); if x is None: return None; return x": "",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); if x is None: return None; "
    "return x": "error step for some samples passed on",
    "def step(x): return x.y | x = step(load(index)); if x is None: return None; return x": "",
    "def step(x): return x.y | x = step(load(index)); if x == None: return None; return x": "",
    "def step(x): return x.y | x = step(load(index)); if x is not None: return x; return None": "",
    "def step(x): return x.y | x = step(load(index)); if x != None: return x; return None": "",
    "def step(x): return x.y | x = step(load(index)); if x is not None: return None; "
    "return x": "error for some samples",
    "def step(x): return x.y | x = step(load(index)); if x is None: return x; return None": "error for some samples",
    "def step(x): return x.y | x = step(load(index)); if x == 3: return None; return x": "error for some samples",
    "x, y = load(index); if x is None: return None; return x, y": "information for some samples",
    "x, y = load(index); if x is not None: return x, y; return None, y": "information held for some samples",
    "x = load(index); if x is None: return None, 1; return x, 1": "information held for some samples",
    "x, y = load(index); if x is None:;  if self.strict: return None, 1; "
    "return x, y": "information held for some samples",
    "def pair(x): return x.y, 1 | x, y = pair(load(index)); if x is None: return None, y; "
    "return x, y": "information held for some samples",
    "x, y = self.items[index]; if x is None: return None; return x, y": "error for some samples",
    "x, y = load(index); if x.bad: return None; return x, y": "error for some samples",
    "x, y = cv2.VideoCapture(index).read(); if y is None: return None; return x, y": "error for some samples",
    "def pair(x): return torch.from_numpy(x).float(), 1 | x, y = pair(load(index)); if x is None: return None, y; "
    "return x, y": "",
    "def pair(x): return np.zeros(3), str(x) | x, y = pair(index); if y is None: return None; return x, y": "",
    "def pair(x): return cv2.imread(x), 1 | x, y = pair(load(index)); if x is None: return None, y; "
    "return x, y": "error held for some samples",
    "def pair(x):;  if load(x): return None, None;  return torch.zeros(x), 1 | x, y = pair(index); "
    "if x is None: return None; return x, y": "error for some samples",
    "def pair(x):;  try: y = torch.tensor(load(x));  except OSError: y = None;  return y, 1 | x, y = pair(index); "
    "if x is None: return None; return x, y": "error for some samples",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); if x is not None: return x; "
    "return None": "error step for some samples passed on",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); if not x is None: return x; "
    "return None": "error for some samples",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); if x is None: return x; return x": "",
    "def step(x):;  if load(x): return None;  return x | "
    "return step(load(index))": "error step for some samples passed on",
    "def step(x):;  if load(x): return None;  return x | "
    "return step(load(index)), 1": "error step held for some samples passed on",
    "def step(x):;  if load(x): return None;  return x | "
    "return {'x': step(load(index))}": "error step held for some samples passed on",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); "
    "return x": "error step for some samples passed on",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); if x is None: x = 3; return x": "",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); if x: return x; return 3": "",
    "def step(x):;  if load(x): return None;  return x | x = step(load(index)); while x is None: x = 3; return x": "",
    "def step(x):;  if x.bad: return None | return step(load(index))": "",
    "def step(x): print(x) | return step(load(index))": "",
    "def step(x):;  if x: return None;  return 3 | return step(index)": "",
    "def step(x):;  if x: return None;  return 3 | return step(self.strict)": "",
    "def step(x, s):;  if s: return None;  return 3 | return step(index, self.strict)": "",
    "def step(x):;  try: return load(x);  except OSError: return None | "
    "return step(self.items[index])": "error step after an exception passed on fix",
    "def step(x):;  try: return load(x);  except OSError: return None | return [step(y) for y in self.items]": "",
    "def a(x):;  if load(x): return;  return x; def b(x): return a(x) | "
    "return b(index)": "error a for some samples passed on",
    "def a(x):;  if load(x): return;  return x; def b(x): return a(x); def c(x): return b(x) | "
    "return c(index)": "error a for some samples passed on",
    "def a(x): return b(x); def b(x):;  if load(x): return;  return c(x); def c(x): return d(x); "
    "def d(x): return e(x) | return a(index)": "error b for some samples passed on",
    "def a(x): return b(x); def b(x): return c(x); def c(x): return d(x); def d(x): return e(x); "
    "def e(x): return f(x); def f(x):;  if load(x): return;  return x | return a(index)": "",
    "def a(x): return b(x); def b(x): return c(x); def c(x): return d(x); def d(x):;  if load(x): return; "
    " return x | return a(index)": "error d for some samples passed on",
    "def a(x): return b(x); def b(x): return c(x); def c(x): return d(x); def d(x): return e(x); def e(x):; "
    " if load(x): return;  return x | return a(index)": "",
    "if self.kind == 'a': return load(index) / return self.helper(index)": "",
    "if load(index): return None; return 3 / return self.helper(index)": "error D.helper for some samples passed on",
    "if load(index): return None; return 3 / if self.kind == 'a': return self.helper(index); "
    "return 3": "information D.helper for some samples passed on",
    "if self.kind == 'a':;  if load(index): return None; return 3 / if self.kind == 'a': return 3; "
    "return self.helper(index)": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind == 'a': return self.helper(index); return 3": "information D.helper for some samples passed on",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind == 'b': return self.helper(index); return 3": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind != 'a': return self.helper(index); return 3": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind != 'b': return self.helper(index); return 3": "information D.helper for some samples passed on",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if not self.kind == 'a': return self.helper(index); return 3": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind in ('b', 'c'): return self.helper(index); return 3": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind in ('a', 'c'): return self.helper(index); "
    "return 3": "information D.helper for some samples passed on",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind not in ('a', 'c'): return self.helper(index); return 3": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / "
    "if self.kind is None: return self.helper(index); return 3": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / if not self.kind: return self.helper(index); "
    "return 3": "",
    "if self.kind == 'a':;  if load(index): return None; return 3 / if self.kind: return self.helper(index); "
    "return 3": "information D.helper for some samples passed on",
    "if self.kind == '':;  if load(index): return None; return 3 / if self.kind: return self.helper(index); "
    "return 3": "",
    "if self.kind.x == 'a':;  if load(index): return None; return 3 / "
    "if self.kind.x == 'b': return self.helper(index); return 3": "",
    "if self.kind.x == 'a':;  if load(index): return None; return 3 / "
    "if self.kind.y == 'b': return self.helper(index); return 3": "information D.helper for some samples passed on",
    "if index == 'a':;  if load(index): return None; return 3 / if index == 'b': return self.helper(index); "
    "return 3": "",
    "if self.kind > 3:;  if load(index): return None; return 3 / if self.kind < 3: return self.helper(index); "
    "return 3": "information D.helper for some samples passed on",
    "if self.kind == load():;  if load(index): return None; return 3 / "
    "if self.kind != load(): return self.helper(index); return 3": "warning D.helper for some samples passed on",
    "if self.kind == 'a' and self.strict:;  if load(index): return None; return 3 / "
    "if self.kind == 'b': return self.helper(index); return 3": "",
    "if self.kind == 'a' or self.strict:;  if load(index): return None; return 3 / "
    "if self.kind == 'b': return self.helper(index); return 3": "information D.helper for some samples passed on",
    "if self.kind == 'a' or self.kind == 'c':;  if load(index): return None; return 3 / "
    "if self.kind == 'b': return self.helper(index); return 3": "",
    "if self.kind == 'a' or load():;  if load(index): return None; return 3 / "
    "if self.kind == 'b': return self.helper(index); return 3": "information D.helper for some samples passed on",
    "if self.kind == 'a':;  if load(index): return None; return 3 / self.kind = 'a'; "
    "if self.kind == 'b': return self.helper(index); return 3": "warning D.helper for some samples passed on",
    "if load(index):;  if self.kind == 'a': return 3 / if self.kind == 'b': return self.helper(index); return 3": "",
}


@pytest.mark.parametrize("code", PATHS)
def test_on_which_paths_a_sample_is_none(code: str, tmp_path: Path) -> None:
    assert said(tmp_path, code) == PATHS[code]


#: A dataset in a folder that is called like a library, and two loaders that take its class from their callers.
HANDED_ON = """
--- datasets/images.py
import torch
from torch.utils.data import Dataset
def collate(samples):
    return torch.stack([one for one in samples if one is not None])
class Images(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __getitem__(self, index):
        if not self.paths[index]:
            return None
        return torch.zeros(3)
--- loading.py
from torch.utils.data import DataLoader
{}
def plain(cls, paths):
    return DataLoader(cls(paths), num_workers=2)
def filtered(cls, paths, collate):
    return DataLoader(cls(paths), num_workers=2, collate_fn=collate)
def make(paths):
    return {}
--- train.py
from loading import make
for batch in make(load()):
    pass
"""
_FILTERS = (
    "silent: the loader is not known to batch with torch's default_collate: the DataLoader in filtered() (loading.py)"
)
_PERHAPS = (
    "silent: it is not known to hold the dataset, and a collate function beside the dataset looks for None: "
    "the DataLoader in plain() (loading.py)"
)

#: The import, what `make` returns, and the answer.
IMPORTS = [
    ("from datasets import images", "filtered(images.Images, paths, images.collate)", _FILTERS),
    ("from datasets import images as own", "filtered(own.Images, paths, own.collate)", _FILTERS),
    ("from datasets import images", "plain(images.Images, paths)", "error"),
    ("from datasets import load_dataset", "filtered(load_dataset, paths, None)", _PERHAPS),
]


@pytest.mark.parametrize(("statement", "made", "short"), IMPORTS)
def test_a_loader_that_nothing_calls_takes_no_class_of_another_one(
    statement: str, made: str, short: str, tmp_path: Path
) -> None:
    assert answers(tmp_path, "none-sample", HANDED_ON.format(statement, made)).short == short
