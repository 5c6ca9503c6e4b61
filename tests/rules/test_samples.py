"""What samples hold that cannot be sent or batched, what divides them, and which calls in workers use CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import contextlib, os, threading
import cv2, numpy as np, pandas as pd, torch, torchvision
from PIL import Image
from pathlib import Path
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T
{}
class D(Dataset):
 def __init__(self, names=(), on=False, root="x"):
  self.names, self.on = names, on
{}
 def __getitem__(self, index):
{}
loader = DataLoader(D(load(), load()), num_workers=2)
"""


def said(folder: Path, rule: str, code: str) -> str:
    """What a rule says of a sample; module-level code stands before ` | `, the constructor's before ` >> `."""
    above, _, inside = code.rpartition(" | ")
    built, _, sample = inside.rpartition(" >> ")
    found = answers(folder, rule, CODE.format(lines(above), lines(built or "pass", 2), lines(sample, 2)))
    shown = [
        " ".join([*["possible"] * (one.certainty == "possible"), one.severity.value, one.subject.rstrip(",")])
        + "".join(f" [{fix.safety}]" for fix in one.fixes)
        for one in found.findings
    ]
    reasons = ["silent"] * bool(found.silences)
    return " + ".join(sorted(shown) or reasons).replace("`", "'")


def sent(folder: Path, code: str) -> str:
    """What of a sample cannot be sent."""
    return said(folder, "unpicklable-sample", code)


def batched(folder: Path, code: str) -> str:
    """What of a sample cannot be batched."""
    return said(folder, "uncollatable-sample", code)


def divided(folder: Path, code: str) -> str:
    """By what a sample is divided that may be zero."""
    return said(folder, "unguarded-normalisation", code)


def on_gpu(folder: Path, code: str) -> str:
    """Which call of a sample uses CUDA."""
    return said(folder, "cuda-in-worker", code)


#: The constructor, after ` >> ` a sample, and what of it cannot be sent.
SENT: dict[str, str] = {
    "return torch.ones(3)": "",
    "return torch.ones(3, requires_grad=True)": "error a tensor that requires grad [safe]",
    "return torch.ones(3, requires_grad=False)": "",
    "return torch.ones(3, requires_grad=load())": "",
    "return torch.ones(3).requires_grad_()": "error a tensor that requires grad [safe]",
    "return torch.ones(3).requires_grad_(True)": "error a tensor that requires grad [safe]",
    "return torch.ones(3).requires_grad_(False)": "",
    "return torch.ones(3, requires_grad=True) * 2": "error a tensor that requires grad [safe]",
    "return 2 + torch.ones(3, requires_grad=True)": "error a tensor that requires grad [safe]",
    "return torch.ones(3, requires_grad=True)[0]": "error a tensor that requires grad [safe]",
    "return torch.ones(3, requires_grad=True).T": "error a tensor that requires grad [safe]",
    "return torch.ones(3, requires_grad=True).shape": "",
    "return torch.ones(3, requires_grad=True).float()": "error a tensor that requires grad [safe]",
    "return torch.ones(3, requires_grad=True).detach()": "",
    "return torch.ones(3, requires_grad=True).tolist()": "",
    "return torch.stack([torch.ones(3), torch.ones(3, "
    "requires_grad=True)])": "error a tensor that requires grad [safe]",
    "return torch.stack([torch.ones(3), torch.ones(3)])": "",
    "return torch.sum(torch.ones(3, requires_grad=True))": "error a tensor that requires grad [safe]",
    "return torch.load(torch.ones(3, requires_grad=True))": "",
    "return np.sum(torch.ones(3, requires_grad=True))": "",
    "return nn.Parameter(torch.ones(3))": "error a tensor that requires grad [safe]",
    "return nn.Parameter(torch.ones(3), False)": "",
    "return nn.Parameter(torch.ones(3), requires_grad=True)": "error a tensor that requires grad [safe]",
    "return nn.Parameter(torch.ones(3)) * 2": "error a tensor that requires grad [safe]",
    "return nn.Linear(3, 3)(torch.ones(3))": "error a tensor that requires grad [safe]",
    "return nn.ReLU()(torch.ones(3))": "",
    "return nn.Conv2d(3, 3, 3)(torch.ones(3)).detach()": "",
    "self.m = nn.Linear(3, 3) >> return self.m(torch.ones(3))": "error a tensor that requires grad [safe]",
    "self.m = nn.Linear(3, 3) >> with torch.no_grad(): return self.m(torch.ones(3))": "",
    "self.m = nn.Linear(3, 3) >> with torch.inference_mode():;  x = self.m(torch.ones(3)); return x": "",
    "self.m = nn.Linear(3, 3) >> with open(index): return "
    "self.m(torch.ones(3))": "error a tensor that requires grad [safe]",
    "self.m = nn.Linear(3, 3); self.m.requires_grad_(False) >> return self.m(torch.ones(3))": "",
    "torch.set_grad_enabled(False) | self.m = nn.Linear(3, 3) >> return self.m(torch.ones(3))": "",
    "class M(nn.Module):;  def __init__(self): self.l = nn.Linear(3, 3) | "
    "self.m = M() >> return self.m(torch.ones(3))": "error a tensor that requires grad [safe]",
    "class M(nn.Module):;  def __init__(self): self.l = nn.ReLU() | self.m = M() >> return self.m(torch.ones(3))": "",
    "class M:;  def __init__(self): self.l = nn.Linear(3, 3);  def __call__(self, x): return 3 | "
    "self.m = M() >> return self.m(torch.ones(3))": "",
    "self.w = torch.ones(3, requires_grad=True) >> return self.w": "error a tensor that requires grad [safe]",
    "self.w = torch.ones(3, requires_grad=True) >> return self.w * 2": "error a tensor that requires grad [safe]",
    "self.w = torch.ones(3, requires_grad=True); self.w = load() >> return self.w * 2": "",
    "w = torch.ones(3, requires_grad=True); w = w * 2; return w": "error a tensor that requires grad [safe]",
    "W = torch.ones(3, requires_grad=True) | return W * 2": "error a tensor that requires grad [safe]",
    "W = torch.ones(3, requires_grad=True) | return W * 2, 1": "error a tensor that requires grad [safe]",
    "W = torch.ones(3, requires_grad=True) | return {'x': W * 2}": "error a tensor that requires grad [safe]",
    "W = torch.ones(3, requires_grad=True) | return W * 2 if index else 3": "error a tensor that requires grad [safe]",
    "W = torch.ones(3, requires_grad=True) | return (((((W * 2,),),),),)": "",
    "W = torch.ones(3, requires_grad=True) | return ((((((W * 2,),),),),),)": "",
    "return lambda: 3": "error a lambda",
    "return index, lambda: 3": "error a lambda",
    "def f(): return 3; return f": "error 'f', a function inside another",
    "def f(): return 3 | return f": "",
    "class A: pass; return A()": "error an object of 'A', a class inside a function",
    "class A: pass | return A()": "",
    "return (x for x in self.names)": "error a generator",
    "return [x for x in self.names]": "",
    "return open(index)": "error an open file [unsafe]",
    "return open(index).read()": "",
    "return threading.Lock()": "error a lock",
    "return {}.keys()": "error a view of a dictionary",
    "return list({}.keys())": "",
    "return torch.Generator()": "",
    "return [open(index)]": "error an open file [unsafe]",
    "return {'a': {'b': {'c': open(index)}}}": "error an open file [unsafe]",
    "x = [open(index)]; return x": "error an open file [unsafe]",
    "x = [[[[open(index)]]]]; return x": "error an open file [unsafe]",
}
#: The constructor, after ` >> ` a sample, and what of it cannot be batched.
BATCHED: dict[str, str] = {
    "return Image.open(index)": "error a Pillow image [unsafe]",
    "return Image.open(index), 3": "error a Pillow image [unsafe]",
    "return {'x': Image.open(index)}": "error a Pillow image [unsafe]",
    "return np.array(Image.open(index))": "",
    "return Image.open(index).convert('RGB')": "error a Pillow image [unsafe]",
    "return Image.open(index).size": "",
    "return Image.open(index).resize((3, 3)).rotate(3)": "error a Pillow image [unsafe]",
    "return Image.open(index).load()": "",
    "return Image.fromarray(load())": "error a Pillow image [unsafe]",
    "return Image.open(index) if index else 3": "",
    "return Image.open(index) if index else Image.open(3)": "error a Pillow image [unsafe]",
    "x = Image.open(index); if index: x = x.convert('L'); return x": "error a Pillow image",
    "x = Image.open(index); if index: x = np.array(x); return x": "",
    "x = Image.open(index); if self.on: x = np.array(x); return x": "",
    "x = Image.open(index); x = T.RandomCrop(3)(x); return x": "error a Pillow image",
    "x = Image.open(index); x = T.ToTensor()(x); return x": "",
    "x = Image.open(index); x = T.Compose([T.RandomCrop(3), T.ToTensor()])(x); return x": "",
    "x = Image.open(index); x = T.Compose([T.RandomCrop(3), T.Resize(3)])(x); return x": "error a Pillow image",
    "x = Image.open(index); x = load(x); return x": "",
    "self.t = T.RandomCrop(3) >> return self.t(Image.open(index))": "error a Pillow image [unsafe]",
    "self.t = T.Compose([T.RandomCrop(3)]) >> return self.t(Image.open(index))": "error a Pillow image [unsafe]",
    "self.t = T.Compose([T.RandomCrop(3), load()]) >> return self.t(Image.open(index))": "",
    "self.t = load() >> return self.t(Image.open(index))": "",
    "self.t = None >> x = Image.open(index); if self.t: x = self.t(x); return x": "error a Pillow image",
    "self.t = None; if load(): self.t = load() >> x = Image.open(index); if self.t: x = self.t(x); return x": "",
    "self.t = None; if load(): self.t = load() >> if self.t is None: return Image.open(index); "
    "return 3": "possible hint a Pillow image [unsafe]",
    "self.t = None; if load(): self.t = load() >> if not self.t: return Image.open(index); "
    "return 3": "possible hint a Pillow image [unsafe]",
    "self.t = None; if load(): self.t = load() >> if index: return Image.open(index); "
    "return 3": "error a Pillow image [unsafe]",
    "load().t = 3 | self.t = None >> x = Image.open(index); if self.t: x = self.t(x); "
    "return x": "possible hint a Pillow image",
    "load().u = 3 | self.t = None >> x = Image.open(index); if self.t: x = self.t(x); return x": "error a Pillow image",
    "return Path(index)": "error a 'Path' [unsafe]",
    "return Path(index).parent": "error a 'Path' [unsafe]",
    "return Path(index).name": "",
    "return Path(index) / 'x'": "error a 'Path' [unsafe]",
    "return str(Path(index))": "",
    "return list(Path(index).glob('*'))[0]": "error a 'Path' [unsafe]",
    "self.p = list(Path(root).glob('*')) >> return self.p[index]": "error a 'Path' [unsafe]",
    "self.p = sorted(Path(root).iterdir()) >> return self.p[index]": "error a 'Path' [unsafe]",
    "self.p = os.listdir(root) >> return self.p[index]": "",
    "return {1, 2}": "error a set",
    "return set([1])": "error a set",
    "return [{1, 2}]": "error a set",
    "return [[[{1, 2}]]]": "error a set",
    "return load(), {1, 2}": "error a set",
    "class A: pass | return A()": "error an object of 'A'",
    "class A(dict): pass | return A()": "",
    "class A(load()): pass | return A()": "",
    "class A(object): pass | return A()": "error an object of 'A'",
    "class A:;  x = 3 | return [A()]": "error an object of 'A'",
    "import enum; class A(enum.Enum): X = 1 | return A.X": "",
    "return pd.DataFrame()": "error a DataFrame",
    "return pd.read_csv(index)": "error a DataFrame",
    "return pd.read_csv(index).values": "",
    "return object()": "",
    "return 3": "",
    "return None": "",
    "return 'a', 1.5, True, b'x'": "",
    "if False: return Path(index); return 3": "",
    "self.k = 'a'; self.t = T.ToTensor() >> if self.t is not None:;   if self.k == 'b': return 3;   "
    "elif self.k == 'a': return 4; return Path(index)": "",
    "self.k = 'c'; self.t = T.ToTensor() >> if self.t is not None:;   if self.k == 'b': return 3;   "
    "elif self.k == 'a': return 4; return Path(index)": "error a 'Path' [unsafe]",
    "self.k = 'a'; self.t = load() >> if self.t is not None:;   if self.k == 'a': return 3; "
    "return Path(index)": "error a 'Path' [unsafe]",
}
#: A sample, and by what it is divided that may be zero. `x` is `load(index)`.
DIVIDED: dict[str, str] = {
    "x = load(index); return x / x.max()": "information max [unsafe]",
    "x = load(index); return x / x.sum()": "information sum",
    "x = load(index); return x / x.std()": "information std [unsafe]",
    "x = load(index); return x / x.mean()": "",
    "x = load(index); return x / (x.max() - x.min())": "information max() - min() [unsafe]",
    "x = load(index); return x / (x.max() - x.mean())": "",
    "x = load(index); return x / (x.mean() - x.min())": "",
    "x = load(index); return x / (x.max() + 1e-8)": "",
    "x = load(index); return x / (x.sum() + 1e-8)": "hint sum",
    "x = load(index); return x / (1e-8 + x.sum())": "hint sum",
    "x = load(index); return x / (x.abs().sum() + 1e-8)": "",
    "x = load(index); return x / ((x ** 2).sum() + 1e-8)": "",
    "x = load(index); return x / ((x > 3).sum() + 1e-8)": "",
    "x = load(index); return x / (np.sum(np.abs(x)) + 1e-8)": "",
    "x = load(index); return x / (np.sum(x) + 1e-8)": "hint sum",
    "x = load(index); return x / np.max(x)": "information max [unsafe]",
    "x = load(index); return x / np.linalg.norm(x)": "information norm [unsafe]",
    "x = load(index); return x / torch.norm(x)": "information norm [unsafe]",
    "x = load(index); return x / max(x)": "",
    "x = load(index); return x / sum(x)": "",
    "x = load(index); return x / x.max().item()": "information max [unsafe]",
    "x = load(index); return x / float(x.max())": "",
    "x = load(index); return x / x.max().sqrt()": "information max [unsafe]",
    "x = load(index); return x / x.max().astype('float32')": "information max [unsafe]",
    "x = load(index); return x / x.max().clip(1)": "",
    "x = load(index); return x // x.max()": "",
    "x = load(index); return x * x.max()": "",
    "x = load(index); x /= x.max(); return x": "information max [unsafe]",
    "x = load(index); x //= x.max(); return x": "",
    "x = load(index); m = x.max(); return x / m": "information max",
    "x = load(index); m = x.max(); if m: x = x / m; return x": "silent",
    "x = load(index); m = x.max(); if m > 0: x = x / m; return x": "silent",
    "x = load(index); m = x.max(); m[m == 0] = 1; return x / m": "silent",
    "x = load(index); m = x.std(0); m[load()] = 1; return x / m": "silent",
    "x = load(index); if x.max() > 0: x = x / x.max(); return x": "silent",
    "x = load(index); if x.any() > 0: x = x / x.max(); return x": "silent",
    "x = load(index); if load(): x = x / x.max(); return x": "information max [unsafe]",
    "x = load(index); return np.nan_to_num(x / x.max())": "silent",
    "x = load(index); return np.where(np.isnan(x), 0, x / x.max())": "silent",
    "x = load(index); with np.errstate(all='ignore'): return x / x.max()": "silent",
    "x = np.ones(3); return x / x.max()": "",
    "x = [1, 2]; return x / np.max(x)": "",
    "x = 3; return x / np.max(x)": "",
    "self.x = load() >> return self.x / self.x.max()": "",
    "self.x = load() >> return self.x[index] / self.x[index].max()": "information max [unsafe]",
    "self.x = load() >> return self.x[index] / self.x.max()": "",
    "self.x = load() >> x = self.x[index]; return x / x.data.max()": "information max [unsafe]",
    "for x in load(index): return x / x.max()": "information max [unsafe]",
    "x, y = load(index); return x / x.max()": "information max [unsafe]",
    "x = -load(index); return x / x.max()": "information max [unsafe]",
    "x = load(index) + 1; return x / x.max()": "information max [unsafe]",
    "x = load(index); x += 1; return x / x.max()": "information max [unsafe]",
    "x = load(index); if self.on: x = x + 1; return x / x.max()": "information max [unsafe]",
    "def f(x): return x / x.max() | return f(load(index))": "information max [unsafe]",
    "def f(x): return x / x.max() | return 3": "",
    "f = lambda x: x / x.max() | return f(load(index))": "information max [unsafe]",
}
#: The constructor, after ` >> ` a sample, and which of its calls use CUDA.
ON_GPU: dict[str, str] = {
    "return torch.ones(3).cuda()": "warning '.cuda()'",
    "return torch.ones(3).to('cuda')": "warning '.to(\"cuda\")'",
    "return torch.ones(3).to('cuda:0')": "warning '.to(\"cuda:0\")'",
    "return torch.ones(3).to(device='cuda')": "warning '.to(\"cuda\")'",
    "return torch.ones(3).to('cpu')": "",
    "return torch.ones(3).to(torch.float32)": "",
    "return torch.ones(3).to(torch.device('cuda'))": "warning '.to(\"cuda\")'",
    "return torch.ones(3).to(torch.device(type='cuda'))": "warning '.to(\"cuda\")'",
    "return torch.ones(3).to(torch.device('cuda' if torch.cuda.is_available() else "
    "'cpu'))": "information '.to(\"cuda\")'",
    "return torch.ones(3).to('cuda' if load() else 'cpu')": "information '.to(\"cuda\")'",
    "return torch.ones(3).to('cuda' if load() else load())": "",
    "return torch.ones(3).to(load())": "",
    "return torch.ones(3).to()": "",
    "return torch.ones(3, device='cuda')": "warning 'torch.ones(device=\"cuda\")'",
    "return torch.ones(3, device='cpu')": "",
    "return torch.ones(3, device=load())": "",
    "return torch.tensor(3, device='cuda')": "warning 'torch.tensor(device=\"cuda\")'",
    "return torch.device('cuda')": "",
    "return load(3, device='cuda')": "",
    "return load(index).cuda()": "warning '.cuda()'",
    "return load(index).to('cuda')": "warning '.to(\"cuda\")'",
    "return nn.cuda()": "",
    "return 'x'.cuda()": "",
    "class X:;  def cuda(self): return 3 | return X().cuda()": "",
    "class X: x = 3 | return X().cuda()": "warning '.cuda()'",
    "torch.cuda.synchronize(); return 3": "warning 'torch.cuda.synchronize'",
    "torch.cuda.empty_cache(); return 3": "",
    "torch.cuda.is_available(); return 3": "",
    "torch.cuda.device_count(); return 3": "",
    "if self.on: return torch.ones(3).cuda(); return 3": "hint '.cuda()'",
    "if not self.on: return torch.ones(3).cuda(); return 3": "hint '.cuda()'",
    "if torch.cuda.is_available(): return torch.ones(3).cuda(); return 3": "warning '.cuda()'",
    "if torch.utils.data.get_worker_info() is None: return torch.ones(3).cuda(); return 3": "",
    "if load(index).is_cuda: return torch.ones(3).cuda(); return 3": "silent",
    "if self.device == 'cuda': return torch.ones(3).cuda(); return 3": "silent",
    "if index: return torch.ones(3).cuda(); return 3": "hint '.cuda()'",
    "if False: return torch.ones(3).cuda(); return 3": "",
    "self.x = torch.ones(3).cuda() >> return self.x": "error '.cuda()'",
    "self.x = torch.ones(3).cuda() >> return self.x[index]": "error '.cuda()'",
    "self.x = torch.ones(3).cuda() >> return self.x + 1": "error '.cuda()'",
    "self.x = torch.ones(3).cuda() >> return self.x.shape": "",
    "self.x = torch.ones(3).cuda() >> return len(self.x)": "",
    "self.x = torch.ones(3).cuda() >> return self.x is None": "",
    "self.x = torch.ones(3).cuda() >> return self.x == 3": "error '.cuda()'",
    "self.x = torch.ones(3).cuda() >> return load(self.x)": "error '.cuda()'",
    "self.x = torch.ones(3).cuda() >> return self.x.float()": "error '.cuda()'",
    "self.x = torch.ones(3).cuda() >> return [self.x]": "error '.cuda()'",
    "self.x = torch.ones(3).cuda() >> x = self.x; return 3": "",
    "self.x = torch.ones(3).cuda().cpu() >> return self.x": "",
    "self.x = torch.ones(3).cuda().float() >> return self.x": "error '.cuda()'",
    "self.x = torch.ones(3).cuda().float().unsqueeze(0) >> return self.x": "error '.cuda()'",
    "self.x = torch.ones(3).cuda().numpy() >> return self.x": "",
    "self.x = torch.ones(3).to('cuda') >> return self.x": "error '.to(\"cuda\")'",
    "self.x = torch.ones(3, device='cuda') >> return self.x": "error 'torch.ones(device=\"cuda\")'",
    "self.x = torch.ones(3, device=load()) >> return self.x": "",
    "if on: self.x = torch.ones(3).cuda(); else: self.x = 3 >> return self.x": "hint '.cuda()'",
    "if torch.cuda.is_available(): self.x = torch.ones(3).cuda() >> return self.x": "error '.cuda()'",
    "self.m = nn.Linear(3, 3).cuda() >> return self.m(index)": "error '.cuda()'",
    "X = torch.ones(3).cuda() | return X[index]": "error '.cuda()'",
    "def f(x): return x.cuda() | return f(torch.ones(3))": "warning '.cuda()'",
}


@pytest.mark.parametrize("code", SENT)
def test_what_of_a_sample_cannot_be_sent(code: str, tmp_path: Path) -> None:
    assert sent(tmp_path, code) == SENT[code]


@pytest.mark.parametrize("code", BATCHED)
def test_what_of_a_sample_cannot_be_batched(code: str, tmp_path: Path) -> None:
    assert batched(tmp_path, code) == BATCHED[code]


@pytest.mark.parametrize("code", DIVIDED)
def test_by_what_a_sample_is_divided(code: str, tmp_path: Path) -> None:
    assert divided(tmp_path, code) == DIVIDED[code]


@pytest.mark.parametrize("code", ON_GPU)
def test_which_calls_use_cuda(code: str, tmp_path: Path) -> None:
    assert on_gpu(tmp_path, code) == ON_GPU[code]
