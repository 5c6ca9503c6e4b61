"""Which loaders are for evaluation: by their names, or by what all known code does with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.rules.shared.evaluation_loaders import is_for_evaluation
from tests.project.linking import link
from tests.rules.answers import lines

HEAD = """
import lightning as L
import torch
from tqdm import tqdm
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
 def __getitem__(self, index): return index
def made(n, shuffle=False):
 return DataLoader(D(), n, shuffle=shuffle)
"""
#: Code that uses `made`, and whether all loaders are for evaluation.
CASES: dict[str, bool] = {
    "val_loader = made(1)": True,
    "test_loader = made(1); eval_loader = made(2)": True,
    "def outer(n): return made(n); val_loader = outer(1)": True,
    "def f(m):;  loader = made(1);  L.Trainer().validate(m, dataloaders=loader)": True,
    "def f(t, m):;  for n in t:;   loader = made(n);   t.test(m, loader)": True,
    "def f(m): loader = made(1); def g(m): return evaluate(m, made(1))": False,
    "def g(m): return evaluate(m, made(1))": True,
    "def run_validation(m, x): pass; def f(m): run_validation(m, made(1))": True,
    "def f(m): valid_loader = made(1); def g(m, t): t.predict(m, made(2))": True,
    "def outer(n): return made(n); val_loader = made(1)": False,
    "loader = made(1)": False,
    "def f(m, t):;  loader = made(1);  t.fit(m, loader);  t.test(m, loader)": False,
    "def f(m, t):;  loader = made(1);  t.test(m, loader);  for batch in loader: m(batch)": False,
    "def f(m, t):;  loader = made(1);  t.test(m, loader);  return loader": False,
    "def f(m, t):;  loader = made(1);  t.test(m, loader);  def g(): return list(loader)": False,
    "def f(m): train_and_evaluate(m, made(1))": False,
    "def f(m): contest(m, made(1))": False,
    "def f(m, t):;  self.loader = made(1);  t.test(m, self.loader)": False,
    "val_loader = made(1, shuffle=True)": False,
    "val_loader = made(1); train_loader = made(2)": False,
    "def evaluate(m):;  loader = made(1);  with torch.no_grad():;   for x in tqdm(loader): m(x)": True,
    "def evaluate(m):;  loader = made(1);  for x in loader:;   with torch.inference_mode(): m(x)": True,
    "@torch.no_grad(); def test(m):;  loader = made(1);  len(loader);  for x in enumerate(loader): m(x)": True,
    "class Evaluator:;  def run(self, m):;   loader = made(1);   with torch.no_grad():;    for x in loader: m(x)": True,
    "def test(m):;  with torch.no_grad(): return [m(x) for x in made(1)]": True,
    "def run(m):;  loader = made(1);  with torch.no_grad():;   for x in loader: m(x)": True,
    "def evaluate(m):;  loader = made(1);  for x in loader: m(x)": False,
    "def test(m):;  loader = made(1);  with torch.no_grad():;   for x in loader: m(x);  for x in loader: m(x)": False,
    "def test(m):;  loader = made(1);  with open(m):;   for x in loader: m(x)": False,
    "def test(m):;  loader = made(1);  for x in loader:;   with torch.no_grad(): m(x);   m(x).backward()": False,
    "def train_and_test(m):;  loader = made(1);  with torch.no_grad():;   for x in loader: m(x)": True,
    "def evaluate(m):;  loader = made(1);  use(loader);  with torch.no_grad():;   for x in loader: m(x)": False,
    "pass": False,
}


@pytest.mark.parametrize("code", CASES)
def test_a_loader_is_for_evaluation(code: str, tmp_path: Path) -> None:
    model = link(tmp_path, f"{HEAD}{lines(code)}\n").model
    assert model.loaders
    assert all(is_for_evaluation(loader, model) for loader in model.loaders) == CASES[code]
