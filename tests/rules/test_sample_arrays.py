"""What of arrays PyTorch cannot take: negative strides, read-only memory, stored data that a sample changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import copy, glob, json, os, random
import cv2, numpy as np, torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
{}
class D(Dataset):
 def __init__(self, path="x", size=3, on=False, transform=None):
  self.size, self.on, self.transform = size, on, transform
{}
 def __getitem__(self, index):
{}
loader = DataLoader(D(), {})
"""
SHORT = {
    "it may be a number or a list, or meant to change: a cache, a buffer, a shuffled order": "kind unknown",
    "done again, it changes nothing: each read of the sample gives the same": "settled",
    "what it changes is not known to be stored: it may be a copy, or created for this sample": "not stored",
}


def text_of(code: str, options: str = "num_workers=2") -> str:
    """A dataset: module-level code stands before ` | `, the constructor's before ` / `, then that of a sample."""
    above, _, code = code.rpartition(" | ")
    built, _, sample = code.rpartition(" / ")
    return CODE.format(lines(above), lines(built or "pass", 2), lines(sample, 2), options)


def said(folder: Path, rule: str, code: str) -> str:
    """The severities of the findings, each with the safety of its fixes; or why the rule is silent."""
    found = answers(folder, rule, text_of(code))
    shown = [" ".join([one.severity.value, *(fix.safety for fix in one.fixes)]) for one in found.findings]
    return " + ".join(sorted(shown)) or ", ".join(dict.fromkeys(one.reason for one in found.silences))


def reversed_by(folder: Path, code: str) -> str:
    """What is said of `torch.from_numpy` of an array: the code before its last statement makes it."""
    head, _, last = code.rpartition("; ")
    return said(folder, "negative-stride-sample", f"{head or 'x = np.ones((3, 4))'}; return torch.from_numpy({last})")


def read_only(folder: Path, code: str) -> str:
    """What is said of the tensors that share the memory of an array."""
    return said(folder, "read-only-sample", code)


def seen(folder: Path, code: str) -> str:
    """What is said of changes in place, before ` ~ `, with a loader that has some options."""
    sample, _, options = code.rpartition(" ~ ")
    found = answers(folder, "stored-data-mutation", text_of(sample, options)).findings
    when = [
        one.message.partition("itself, ")[2].partition(";")[0].replace(" of `loader` in case.py", "") for one in found
    ]
    return " + ".join(f"{one.severity.value}: {text}" for one, text in zip(found, when, strict=True))


def changed(folder: Path, code: str) -> str:
    """What is said of a sample that changes what is stored."""
    found = answers(folder, "stored-data-mutation", text_of(code))
    shown = [
        " ".join([one.severity.value, one.message.partition(" changes")[0], *(fix.title for fix in one.fixes)])
        for one in found.findings
    ]
    reasons = dict.fromkeys(SHORT.get(one.reason, one.reason) for one in found.silences)
    return (" + ".join(sorted(shown)) or ", ".join(reasons)).replace("`", "'").replace("Edit a copy: ", "")


#: The argument of `torch.from_numpy`, of an array `x`, and what is said. Statements that make it may stand before.
REVERSED: dict[str, str] = {
    "x": "",
    "x[::-1]": "error safe",
    "x[::1]": "",
    "x[::2]": "",
    "x[::-2]": "error safe",
    "x[::load()]": "",
    "x[::-1 if load() else 1]": "error safe",
    "x[:, ::-1]": "error safe",
    "x[..., ::-1]": "error safe",
    "x[::-1, 0]": "error safe",
    "x[0, ::-1]": "error safe",
    "x[5:1:-1]": "error safe",
    "x[::-1.0]": "",
    "x[[2, 1, 0]]": "",
    "x[::-1].copy()": "",
    "x[::-1] + 1": "",
    "x[::-1] * 1.0": "",
    "x[::-1].T": "error safe",
    "x[::-1].transpose(0, 1)": "error safe",
    "x[::-1].swapaxes(0, 1)": "error safe",
    "x[::-1].squeeze()": "error safe",
    "x[::-1].reshape(-1)": "",
    "x[::-1].astype('float32')": "",
    "x[::-1].ravel()": "",
    "x[::-1].view()": "error safe",
    "x[::-1].mean()": "",
    "x[::-1][0]": "",
    "x[::-1][0:2]": "error safe",
    "x[::-1][None]": "error safe",
    "x[::-1][..., 0]": "",
    "x[::-1][:, None]": "error safe",
    "x[::-1][[1, 2]]": "",
    "x[::-1][::-1]": "it is reversed twice",
    "x[::-1][:, ::-1]": "error safe",
    "x[:, ::-1][::-1]": "error safe",
    "x[..., ::-1][::-1]": "error safe",
    "x[..., ::-1][..., ::-1]": "it is reversed twice",
    "x[..., ::-1][:, ::-1]": "error safe",
    "np.flip(x)": "error safe",
    "np.flip(x, 0)": "error safe",
    "np.flip(x, axis=1)": "error safe",
    "np.flip(x, -1)": "error safe",
    "np.flip(np.flip(x, 0), 0)": "it is reversed twice",
    "np.flip(np.flip(x, 0), 1)": "error safe",
    "np.flip(np.flip(x), 1)": "it is reversed twice",
    "np.flip(x, load())": "error safe",
    "np.fliplr(x)": "error safe",
    "np.flipud(x)": "error safe",
    "np.fliplr(np.fliplr(x))": "it is reversed twice",
    "np.fliplr(np.flipud(x))": "error safe",
    "np.flipud(x[::-1])": "it is reversed twice",
    "np.fliplr(x[::-1])": "error safe",
    "np.flip(m=x)": "error safe",
    "np.rot90(x)": "error safe",
    "np.rot90(x, 1)": "error safe",
    "np.rot90(x, 0)": "",
    "np.rot90(x, 4)": "",
    "np.rot90(x, k=2)": "error safe",
    "np.rot90(x, load())": "information safe",
    "np.rot90(x, random.randint(0, 3))": "error safe",
    "np.rot90(x, np.random.randint(4))": "error safe",
    "np.rot90(x, 1 if load() else 0)": "error safe",
    "np.rot90(x, 0 if load() else 4)": "",
    "np.rot90(x, self.size)": "error safe",
    "np.ascontiguousarray(x[::-1])": "",
    "np.array(x[::-1])": "",
    "np.asarray(x[::-1])": "error safe",
    "np.asarray(x[::-1], dtype=float)": "",
    "np.asarray(a=x[::-1])": "",
    "np.squeeze(x[::-1])": "error safe",
    "np.transpose(x[::-1])": "error safe",
    "np.copy(x[::-1])": "",
    "load(x[::-1])": "",
    "x = load(index); x[::-1]": "error safe",
    "x = load(index); x[::-1, :]": "error safe",
    "x = load(index); y = x.shape; x[::-1]": "error safe",
    "x = load(index); np.flip(x)": "error safe",
    "x = cv2.imread(index); x[..., ::-1]": "error safe",
    "x = cv2.imread(index); x[:, :, ::-1]": "error safe",
    "x = load(index); x.iloc[::-1]": "",
    "x = load(index); x.loc[::-1]": "",
    "x = np.ones(3); y = x[::-1]; y": "error safe",
    "x = np.ones(3); y = x[::-1]; y = y.copy(); y": "",
    "x = np.ones(3); if self.on: x = x[::-1]; x": "",
    "x = np.ones(3); if load(index): x = x[::-1]; x": "error safe",
    "x = np.ones(3); if load(index): x = x[::-1]; else: x = x.copy(); x": "error safe",
    "x = np.ones(3); if self.on: x = x[::-1]; x = x.copy(); x": "",
    "x = np.ones(3); for n in range(3): x = x[::-1]; x": "it is reversed twice",
    "x = np.ones(3); x = x[::-1] if load() else x; x": "error safe",
    "def f(x): return x[::-1] | x = np.ones(3); f(x)": "hint safe",
    "def f(x): return x[::-1].copy() | x = np.ones(3); f(x)": "",
    "def f(x): return x | x = np.ones(3); f(x[::-1])": "error safe",
    "f = lambda x: x[:, ::-1] | x = np.ones(3); f(x)": "hint safe",
}
#: The constructor, after ` / ` a sample, and what is said of it.
READ_ONLY: dict[str, str] = {
    "return torch.from_numpy(np.frombuffer(b'x', dtype='uint8'))": "warning safe",
    "return torch.from_numpy(np.frombuffer(bytearray(3), dtype='uint8'))": "",
    "return torch.from_numpy(np.frombuffer(load(index), dtype='uint8'))": "",
    "return torch.from_numpy(np.frombuffer(open(index, 'rb').read(), dtype='uint8'))": "warning safe",
    "return torch.from_numpy(np.frombuffer('x'.encode(), dtype='uint8'))": "warning safe",
    "return torch.from_numpy(np.frombuffer(bytes(3), dtype='uint8'))": "warning safe",
    "x = b'x'; if index: x = load(); return torch.from_numpy(np.frombuffer(x))": "",
    "x = b'x'; if index: x = b'y'; return torch.from_numpy(np.frombuffer(x))": "warning safe",
    "return torch.from_numpy(np.frombuffer())": "",
    "return torch.as_tensor(np.frombuffer(b'x'))": "",
    "return torch.tensor(np.frombuffer(b'x'))": "",
    "return torch.from_numpy(np.frombuffer(b'x')).float()": "information safe",
    "return torch.from_numpy(np.frombuffer(b'x'))/255": "information safe",
    "x = torch.from_numpy(np.frombuffer(b'x')); return x.float()": "information safe",
    "return torch.from_numpy(np.frombuffer(b'x')).clone()": "information safe",
    "return torch.from_numpy(np.frombuffer(b'x')).view(3)": "warning safe",
    "return torch.from_numpy(np.frombuffer(b'x').copy())": "",
    "return torch.from_numpy(np.frombuffer(b'x').reshape(3, 4))": "warning safe",
    "return torch.from_numpy(np.frombuffer(b'x').astype('float32'))": "",
    "return torch.from_numpy(np.frombuffer(b'x').T)": "warning safe",
    "return torch.from_numpy(np.frombuffer(b'x')[1:])": "warning safe",
    "return torch.from_numpy(np.frombuffer(b'x')[[1, 2]])": "",
    "return torch.from_numpy(np.frombuffer(b'x')[load()])": "",
    "return torch.from_numpy(np.frombuffer(b'x')[None, ...])": "warning safe",
    "return torch.from_numpy(np.frombuffer(b'x') + 1)": "",
    "return torch.from_numpy(np.asarray(np.frombuffer(b'x')))": "warning safe",
    "return torch.from_numpy(np.asarray(np.frombuffer(b'x'), dtype='float32'))": "",
    "return torch.from_numpy(np.reshape(np.frombuffer(b'x'), 3))": "warning safe",
    "return np.frombuffer(b'x')": "information safe",
    "return np.frombuffer(b'x'), 1": "information safe",
    "return {'x': np.frombuffer(b'x')}": "information safe",
    "return np.frombuffer(b'x')[index]": "",
    "return np.frombuffer(b'x').copy()": "",
    "return torch.from_numpy(np.broadcast_to(1, 3))": "warning safe",
    "return torch.from_numpy(np.asarray(Image.open(index)))": "information safe",
    "return torch.from_numpy(np.array(Image.open(index)))": "",
    "return torch.from_numpy(np.asarray(Image.open(index).convert('RGB')))": "information safe",
    "return torch.from_numpy(np.asarray(Image.open(index), dtype='float32'))": "",
    "return np.asarray(Image.open(index))": (
        "nothing else uses the memory of the picture's array: PyTorch's warning is all that happens"
    ),
    "return torch.from_numpy(np.asarray(load(index)))": "",
    "return torch.from_numpy(np.load(index, mmap_mode='r'))": "warning safe",
    "return torch.from_numpy(np.load(index, mmap_mode='r+'))": "",
    "return torch.from_numpy(np.load(index, mmap_mode='c'))": "",
    "return torch.from_numpy(np.load(index, mmap_mode=load()))": "",
    "return torch.from_numpy(np.load(index))": "",
    "return torch.from_numpy(np.memmap(index, mode='r'))": "warning safe",
    "return torch.from_numpy(np.memmap(index))": "",
    "return torch.from_numpy(np.memmap(index, 'uint8', 'r'))": "warning safe",
    "self.x = np.load(path, mmap_mode='r') / return torch.from_numpy(self.x[index])": "warning safe",
    "self.x = np.load(path, mmap_mode='r') / return torch.from_numpy(self.x[index].copy())": "",
    "self.x = np.load(path, mmap_mode='r') / return self.x[index]": "",
    "self.x = np.load(path, mmap_mode='r') / return torch.from_numpy(self.x[[index]])": "",
    "self.x = np.load(path, mmap_mode='r') / return torch.from_numpy(self.x[index:index + 3])": "warning safe",
    "self.x = np.load(path, mmap_mode='r') / return torch.from_numpy(self.x[index, 2])": "warning safe",
    "self.x = np.load(path, mmap_mode='r') / return torch.from_numpy(self.x[random.randint(1, 2)])": "warning safe",
    "self.x = np.load(path) / return torch.from_numpy(self.x[index])": "",
    "x = np.frombuffer(b'x'); return torch.from_numpy(x)": "warning safe",
    "x = np.frombuffer(b'x'); if index: x = x.copy(); return torch.from_numpy(x)": "warning",
    "x = np.frombuffer(b'x'); x = x.copy(); return torch.from_numpy(x)": "",
    "def f(): return np.frombuffer(b'x') | return torch.from_numpy(f())": "warning safe",
    "def f(x): return torch.from_numpy(x) | return f(np.frombuffer(b'x'))": "warning",
}
#: The constructor, after ` / ` a sample, and what is said of it.
CHANGED: dict[str, str] = {
    "self.x = np.ones((3, 4)) / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index].copy(); x += 1; return x": "not stored",
    "self.x = np.ones((3, 4)) / x = self.x[index] + 1; x += 1; return x": "not stored",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x = x + 1; return x": "",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[0] = 1; "
    "return x": "warning an assignment to its items 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[0] += 1; return x": "",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[0] -= 0.5; return x": "warning '-=' on an item 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[0, :] *= 2; return x": "warning '*=' on an item 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x.sort(); return x": "warning '.sort()' '.copy()'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x.fill(3); return x": "warning '.fill()' 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; np.clip(x, 0, 1, out=x); return x": "warning 'out=' 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; np.copyto(x, 3); return x": "warning 'copyto' 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; np.random.shuffle(x); return x": "warning 'shuffle' 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; np.add(x, 1); return x": "",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[:, 0] = x[:, 0].clip(0, 3); return x": "settled",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[:, 0] = np.clip(x[:, 0], 0, 3); return x": "settled",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[:, 0] = x[:, 1].clip(0, 3); "
    "return x": "warning an assignment to its items 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[:, 0] = x[:, 0].clip(0, load()); "
    "return x": "warning an assignment to its items 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[:, 0] = x[:, 0].clip(0, self.size); return x": "settled",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x[:, 0] = x[:, 0] - 1; "
    "return x": "warning an assignment to its items 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[self.x > 3]; x += 1; return x": "a mask takes a copy",
    "self.x = np.ones((3, 4)) / x = self.x[(self.x > 3) & (self.x < 4)]; x += 1; return x": "a mask takes a copy",
    "self.x = np.ones((3, 4)) / x = self.x[~(self.x > 3)]; x += 1; return x": "a mask takes a copy",
    "self.x = np.ones((3, 4)) / x = self.x[1:3]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.ones((3, 4)) / x = self.x[[1, 2]]; x += 1; return x": "not stored",
    "self.x = np.ones((3, 4)) / self.x += 1; return self.x[index]": "",
    "self.x = np.ones((3, 4)) / self.x[index] += 1; return self.x[index]": "",
    "self.x = np.ones((3, 4)) / self.x[index] = 0; return self.x[index]": "kind unknown",
    "self.x = np.ones((3, 4)) / self.x[index, 0] = 0; return self.x[index]": "kind unknown",
    "self.x = np.ones(4) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.ones(4) / x = self.x; x += 1; return x[index]": "warning '+=' 'np.copy(...)'",
    "self.x = np.zeros(shape=(3, 4)) / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.random.rand(3, 4) / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.random.rand(3) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.array([[1, 2], [3, 4]]) / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.array([1, 2]) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.random.rand(3, load()) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.random.rand(*load()) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.zeros(load()) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.ones(shape=load()) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.full((3, 4), 0) / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.array(load()) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.array([[[1, 2]]]) / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.arange(3) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.ones((3, 4)) / x = self.x[index][0]; x += 1; return x": "kind unknown",
    "self.x = np.ones((3, 4, 5)) / x = self.x[index][0]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.ones((3, 4)).reshape(12) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.ones((3, 4)).T / x = self.x[index]; x += 1; return x": "the origin of what it changes is not known",
    "self.x = np.memmap(path) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.memmap(path, 'uint8', 'r', 0, (3, 4)) / x = self.x[index]; x += 1; "
    "return x": "the array is mapped read-only: writing to it raises",
    "self.x = np.memmap(path, 'uint8', 'r+', 0, (3, 4)) / x = self.x[index]; x += 1; "
    "return x": "error '+=' 'np.copy(...)'",
    "self.x = torch.zeros((3, 4)) / x = self.x[index]; x += 1; return x": "warning '+=' '.clone()'",
    "self.x = torch.zeros(3) / x = self.x[index]; x += 1; return x": "warning '+=' '.clone()'",
    "self.x = torch.zeros(load(), 3) / x = self.x[index]; x += 1; return x": "warning '+=' '.clone()'",
    "self.x = np.zeros((3, 4)).astype(int) / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = np.load(path) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = np.load(path) / x = self.x[index]; x[0] = 1; return x": "kind unknown",
    "self.x = np.load(path, mmap_mode='r') / x = self.x[index]; x[0] = 1; "
    "return x": "the array is mapped read-only: writing to it raises",
    "self.x = np.load(path, mmap_mode='r+') / x = self.x[index]; x[0] = 1; return x": "kind unknown",
    "self.x = np.load(path, mmap_mode='c') / x = self.x[index]; x[0] = 1; return x": "kind unknown",
    "self.x = np.memmap(path, shape=(3, 4)) / x = self.x[index]; x += 1; return x": "error '+=' 'np.copy(...)'",
    "self.x = np.memmap(path, shape=(3, 4), mode='r') / x = self.x[index]; x += 1; "
    "return x": "the array is mapped read-only: writing to it raises",
    "self.x = np.memmap(path, shape=(3, 4), mode='w+') / x = self.x[index]; x += 1; "
    "return x": "error '+=' 'np.copy(...)'",
    "self.x = torch.ones(3, 4) / x = self.x[index]; x.add_(1); return x": "warning '.add_()' '.clone()'",
    "self.x = torch.ones(3, 4) / x = self.x[index]; x += 1; return x": "warning '+=' '.clone()'",
    "self.x = torch.ones(3, 4) / x = self.x[index]; x.requires_grad_(); return x": "",
    "self.x = torch.ones(3, 4) / x = self.x[index].clone(); x.add_(1); return x": "not stored",
    "self.x = torch.ones(3, 4).share_memory_() / x = self.x[index]; x += 1; return x": "error '+=' '.clone()'",
    "self.x = torch.load(path) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = torch.load(path) / x = self.x[index]; x.mul_(2); return x": "warning '.mul_()' '.clone()'",
    "self.x = [np.ones(3) for n in range(3)] / x = self.x[index]; x += 1; return x": "warning '+=' 'np.copy(...)'",
    "self.x = [[1, 2], [3]] / x = self.x[index]; x += [1]; return x": "kind unknown",
    "self.x = [[1, 2], [3]] / x = self.x[index]; x.append(1); return x": "warning '.append()' '.copy()'",
    "self.x = [[1, 2], [3]] / x = list(self.x[index]); x.append(1); return x": "",
    "self.x = [[1, 2], [3]] / x = self.x[index]; x.sort(); return x": "warning '.sort()' '.copy()'",
    "self.x = [[1, 2], [3]] / random.shuffle(self.x); return self.x[index]": "kind unknown",
    "self.x = [1, 2] / x = self.x[index]; x += 1; return x": (
        "what is stored cannot be changed in place, or is under another key"
    ),
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] = 1; return x": "kind unknown",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] += 1; return x": "warning '+=' '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] = x['a'] + 1; "
    "return x": "warning an update of the old value '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['b'] = x['a'] + 1; return x": "kind unknown",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] = x['a']/x['a']; return x": "kind unknown",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] = f\"{path}{x['a']}\"; "
    "return x": "warning an update of the old value '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] = os.path.join('y', x['a']); "
    "return x": "warning an update of the old value '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] = os.path.join(x['a'], 'y'); return x": "kind unknown",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x['a'] = load(x['a']); return x": "kind unknown",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x.update(a=x['a'] + 1); "
    "return x": "warning '.update()' '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x.update(a=3); return x": "",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x.pop('a'); return x": "warning '.pop()' '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; x.pop('a', None); return x": "",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; y = x.pop('a', None); return y": "warning '.pop()' '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; del x['a']; return x": "warning 'del' '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; if 'a' in x: x['a'] += 1; return x": "",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; if index: x['a'] += 1; return x": "warning '+=' '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = self.x[index]; try: x['a'] += 1; except KeyError: pass; "
    "return x": "warning '+=' '.copy()'",
    "self.x = [{'a': 1}, {'a': 2}] / x = dict(self.x[index]); x['a'] += 1; return x": "",
    "self.x = [{'a': 1}, {'a': 2}] / x = copy.deepcopy(self.x[index]); x['a'] += 1; return x": "",
    "self.x = json.load(open(path)) / x = self.x[index]; x['a'] += 1; return x": "warning '+=' '.copy()'",
    "self.x = json.load(open(path)) / x = self.x[index]; x['a'].append(3); "
    "return x": "warning '.append()' 'copy.deepcopy(...)'",
    "self.x = json.load(open(path)) / self.x['n'] += 1; return self.x": "",
    "self.x = load(path) / x = self.x[index]; x += 1; return x": "kind unknown",
    "self.x = load(path) / x = self.x[index]; x[:, 0] = 1; "
    "return x": "information an assignment to its items 'copy.deepcopy(...)'",
    "self.x = load(path) / x = self.x[index]; x[x > 3] = 1; return x": "settled",
    "self.x = load(path) / x = self.x[index]; x[..., 0] = 1; "
    "return x": "information an assignment to its items 'copy.deepcopy(...)'",
    "self.x = load(path) / x = self.x[index]; x[2:] = 1; "
    "return x": "information an assignment to its items 'copy.deepcopy(...)'",
    "self.x = load(path) / x = self.x[index]; x[2:] = load(); return x": "kind unknown",
    "self.x = load(path) / x = self.x[index]; x[0] = 1; return x": "kind unknown",
    "self.x = load(path) / x = self.x[index]; x.add_(1); return x": "warning '.add_()' '.clone()'",
    "self.x = load(path) / x = self.x[index]; x._add_(1); return x": "",
    "self.x = load(path) / x = self.x[index]; x += 1; return x.mean()": "information '+=' 'copy.deepcopy(...)'",
    "self.x = load(path) / x = self.x[index]; x += 1; return np.mean(x)": "kind unknown",
    "self.x = load(path) / x = self.x[index]; x += 1; "
    "return torch.from_numpy(x)": "information '+=' 'copy.deepcopy(...)'",
    "self.dataset = load(path) / x = self.dataset[index]; x[:, 0] = 1; return x": "the worker creates what it changes",
    "self.datasets = [load(path)] / x = self.datasets[0][index]; x[:, 0] = 1; "
    "return x": "the worker creates what it changes",
    "self.datasets = [load(path)] / x = self.datasets[0]; x[:, 0] = 1; "
    "return x": "information an assignment to its items 'copy.deepcopy(...)'",
    "self.datasets = load(path) / x = self.datasets[0][index]; x[:, 0] = 1; "
    "return x": "the worker creates what it changes",
    "self.datasets = [np.ones((3, 4))] / x = self.datasets[0][index]; x[:, 0] = 1; "
    "return x": "warning an assignment to its items 'np.copy(...)'",
    "self.things = [load(path)] / x = self.things[0][index]; x[:, 0] = 1; "
    "return x": "information an assignment to its items 'copy.deepcopy(...)'",
    "self.data = load(path) / x = self.data[index]; x[:, 0] = 1; "
    "return x": "information an assignment to its items 'copy.deepcopy(...)'",
    "self.train_dataset = load(path) / x = self.train_dataset[index]; x[:, 0] = 1; "
    "return x": "the worker creates what it changes",
    "self.dataset = json.load(open(path)) / x = self.dataset[index]; x['a'].append(1); "
    "return x": "warning '.append()' 'copy.deepcopy(...)'",
    "self.dataset = np.load(path) / x = self.dataset[index]; x[:, 0] = 1; "
    "return x": "warning an assignment to its items 'np.copy(...)'",
    "self.x = load(path); self.d = {} / if index not in self.d: self.d[index] = []; self.d[index].append(1); "
    "return 3": "kind unknown, the same function begins the collection that it adds to: a cache",
    "self.d = {} / if index not in self.d: self.d[index] = []; self.d[index].append(1); "
    "return self.d[index]": "kind unknown, the same function begins the collection that it adds to: a cache",
    "self.x = None / if self.x is None: self.x = np.ones((3, 4)); x = self.x[index]; x += 1; "
    "return x": "the worker creates what it changes",
    "self.n = 0 / self.n += 1; return self.n": "",
    "X = np.ones((3, 4)) | X[index] = 1; return X": "kind unknown",
    "X = [1, 2] | X.append(3); return X": "",
    "x = np.ones(3); x += 1; return x": "not stored",
    "class R:;  def __init__(self): self.a = 3 | self.x = [R(), R()] / x = self.x[index]; x.a += 1; "
    "return x": "warning '+=' 'copy.deepcopy(...)'",
    "class R:;  def __init__(self): self.a = 3 | self.x = [R(), R()] / x = self.x[index]; x.a = x.a * 2; "
    "return x": "warning an update of the old value 'copy.deepcopy(...)'",
    "class R:;  def __init__(self): self.a = 3 | self.x = [R(), R()] / x = self.x[index]; x.a = 3; return x": "",
    "def f(x): x += 1 | self.x = np.ones((3, 4)) / x = self.x[index]; f(x); return x": "warning '+=' 'np.copy(...)'",
    "def f(x): x[0] = 1 | self.x = np.ones((3, 4)) / x = self.x[index]; f(x.copy()); return x": "not stored",
}
#: The constructor, after ` / ` a sample and after ` ~ ` the options of the loader, and what is said of a change in
#: place.
SEEN: dict[str, str] = {
    "self.x = np.ones((3, 4)) / x = self.x[index]; x += 1; "
    "return x ~ num_workers=0": "error: so every epoch changes it a little more",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x += 1; return x ~ num_workers=2": (
        "warning: and the change lasts in the workers until the epoch ends, or for ever without workers "
        "or with persistent ones"
    ),
    "self.x = np.ones((3, 4)) / x = self.x[index]; x += 1; "
    "return x ~ num_workers=2, persistent_workers=True": "error: so every epoch changes it a little more",
    "self.x = np.ones((3, 4)) / x = self.x[index]; x += 1; return x ~ num_workers=load()": (
        "warning: and the change lasts in the workers until the epoch ends, or for ever without workers "
        "or with persistent ones"
    ),
    "self.x = np.ones((3, 4)) / x = self.x[index]; x += 1; return x ~ num_workers=2, persistent_workers=load()": (
        "warning: and the change lasts in the workers until the epoch ends, or for ever without workers "
        "or with persistent ones"
    ),
    "self.x = torch.ones(3, 4) / x = self.x[index]; x += 1; "
    "return x ~ num_workers=0": "error: so every epoch changes it a little more",
    "self.x = torch.ones(3, 4) / x = self.x[index]; x += 1; return x ~ num_workers=2": (
        "warning: and the change lasts in the workers until the epoch ends, or for ever without workers "
        "or with persistent ones"
    ),
    "self.x = torch.ones(3, 4) / x = self.x[index]; x += 1; "
    "return x ~ num_workers=2, multiprocessing_context='spawn'": "error: so every epoch changes it a little more",
    "self.x = torch.ones(3, 4) / x = self.x[index]; x += 1; return x ~ num_workers=2, multiprocessing_context='fork'": (
        "warning: and the change lasts in the workers until the epoch ends, or for ever without workers "
        "or with persistent ones"
    ),
    "self.x = np.ones((3, 4)) / x = self.x[index]; x += 1; return x ~ num_workers=2, multiprocessing_context='spawn'": (
        "warning: and the change lasts in the workers until the epoch ends, or for ever without workers "
        "or with persistent ones"
    ),
    "self.x = torch.ones(3, 4).share_memory_() / x = self.x[index]; x += 1; "
    "return x ~ num_workers=2": "error: so every epoch changes it a little more",
    "self.x = np.memmap(path, shape=(3, 4)) / x = self.x[index]; x += 1; "
    "return x ~ num_workers=2": "error: and the file that it is mapped from",
    "self.x = [[1], [2]] / x = self.x[index]; x.append(1); "
    "return x ~ num_workers=2, persistent_workers=True": "error: so every epoch changes it a little more",
}


@pytest.mark.parametrize("code", REVERSED)
def test_what_reverses_an_array(code: str, tmp_path: Path) -> None:
    assert reversed_by(tmp_path, code) == REVERSED[code]


@pytest.mark.parametrize("code", READ_ONLY)
def test_which_memory_is_read_only(code: str, tmp_path: Path) -> None:
    assert read_only(tmp_path, code) == READ_ONLY[code]


@pytest.mark.parametrize("code", CHANGED)
def test_what_a_sample_changes(code: str, tmp_path: Path) -> None:
    assert changed(tmp_path, code) == CHANGED[code]


@pytest.mark.parametrize("code", SEEN)
def test_when_a_change_is_seen_again(code: str, tmp_path: Path) -> None:
    assert seen(tmp_path, code) == SEEN[code]
