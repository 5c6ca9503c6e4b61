"""
# negative-stride-sample (LDR402)

## What it does
Finds arrays that sample code reverses (`image[:, ::-1]`, `np.flip`, `np.fliplr`, `np.flipud`, `np.rot90`) and then
turns into a tensor without a copy in between: with `torch.from_numpy`, `torch.as_tensor`, `torch.tensor`, torchvision's
`ToTensor`, or through the default collate function.

## Why is this bad?
Reversing returns a view with negative strides, which tensors do not support. Measured with torch 2.13 and torchvision
0.28: `ValueError: At least one stride in the given numpy array is negative`, with any number of workers. If the
reversal is a random augmentation, the error appears at the first sample that is flipped.

## When it is not a bug
- A step in between copies the array: `.copy()`, `np.copy`, `np.ascontiguousarray`, arithmetic, `.astype(...)`,
  `np.stack`, functions of OpenCV and Pillow.
- The call returns a new array: `cv2.flip`, `torch.flip`, `np.roll`, `np.rot90(image, 4)`, or an index that is a list
  (`image[:, :, [2, 1, 0]]`).
- Every image with colours is copied: `if image.shape[2] == 3: image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)`.
- The code reverses a list or a string.
- The code reverses the same axis twice.
- A transform takes every image: it is called under `if self.transform`, and all datasets are given one.
- Only arrays with fewer axes are made tensors without a copy: `torch.from_numpy(x)` under `x.ndim < 3`, where
  `image[:, :, ::-1]` has three.
- Another function than the one that makes the tensor reverses the array: the finding is a hint. A program that has been
  run does not fail at its first flipped sample, so it is likely that the code between the two copies the array.
- A setting that nobody knows reverses the array (`if self.flip:`), converts it, or chooses the function that does
  (`self.read = read or read_bgr`): it may never hold. The finding is only 'information'.
- One setting reverses the array, and another makes it anew afterwards (`elif self.resize: image = cv2.resize(...)`):
  the finding is only 'information', because both must be so.
- What the array holds decides whether the code copies it: `if mask.max() > 0: mask = mask / mask.max()` leaves a black
  mask reversed. The finding is only 'information', because most samples may be copied.

## Example
```python
def __getitem__(self, index):
    image = cv2.imread(self.paths[index])[:, :, ::-1]
    return torch.from_numpy(image.transpose(2, 0, 1))
```

## Fixed
```python
def __getitem__(self, index):
    image = np.copy(cv2.imread(self.paths[index])[:, :, ::-1])
    return torch.from_numpy(image.transpose(2, 0, 1))
```

## Fix safety
Safe: `np.copy` gives the same values. `np.ascontiguousarray` is not enough: it keeps the negative stride of an axis of
length 1 (numpy/numpy#23349).

## References
- [torch.from_numpy](https://pytorch.org/docs/stable/generated/torch.from_numpy.html)
- numpy/numpy#23349, pytorch/pytorch#92680
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.findings.finding import Finding, Fix, Severity, Silence, Wrap
from loaderlint.knowledge.arrays import TENSOR_MAKERS
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.negative_stride_sample.array_reversals import Reversal
from loaderlint.rules.negative_stride_sample.copying_branches import is_copied_in_another_branch
from loaderlint.rules.negative_stride_sample.settings_branches import depends_on_settings
from loaderlint.rules.negative_stride_sample.tested_axes import is_for_fewer_axes
from loaderlint.rules.shared.array_flow import Found
from loaderlint.rules.shared.array_sinks import Sink, sinks
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of, loaders_of

#: A file that reverses anything contains one of these; those first that an index of words has.
_WORDS = ("flip", "rot90", "::-", ":: -", ": -1]", ":-1]")


#: An error with as many doubts is information, or a hint; a finding that is only possible has one of them already.
_AS_INFORMATION = 2
_AS_A_HINT = 3


class Reversed(NamedTuple):
    """A reversed array, and what makes a tensor of it."""

    found: Found
    sink: Sink


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each reversed array, where it is reversed."""
    if not any(model.files.containing(word) for word in _WORDS):
        return
    for one in judged(RULE, _candidates(function, model), model):
        if isinstance(one, Silence):
            yield one
        elif one.spot.place(model).anchor >= 0:
            yield _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Reversed] | Silence]:
    """The reversed arrays of which tensors are made."""
    reversal = model.once(Reversal)
    for sink in sinks(function, model, reversal.flow, TENSOR_MAKERS):
        for one in sink.found:
            here = Spot(one.frame, one.number)
            if not sink.arrays_only and not reversal.is_array(one):
                yield from silent(RULE.name, here, "it may be a list or a string that is reversed", model)
            elif reversal.is_undone(one):
                yield from silent(RULE.name, here, "it is reversed twice", model)
            elif is_for_fewer_axes(one, sink, model):
                yield from silent(RULE.name, here, "the tensor is made of arrays with fewer axes", model)
            else:
                unproven = not reversal.is_sure(one) or depends_on_settings(one, sink, reversal.flow, model)
                yield Candidate(
                    Reversed(one, sink),
                    sink.frame,
                    here,
                    doubts=_doubts(one, sink, unproven, model),
                    unproven=unproven,
                    exposure=sink.exposure,
                    key=here.place(model),
                )


def _doubts(one: Found, sink: Sink, unproven: bool, model: Model) -> int:
    """How far an error is lowered. A program that has been run does not fail at its first flipped sample: something on
    a longer way copies the array, or a branch does that most samples take."""
    if is_copied_in_another_branch(sink, model):
        return _AS_INFORMATION - int(unproven)
    return int(unproven) if one.frame == sink.frame else _AS_A_HINT - int(unproven)


def _finding(verdict: WorkerVerdict[Reversed], model: Model) -> Finding:
    found, sink = verdict.about
    how, place = model.once(Reversal).described(found), verdict.spot.place(model)
    return verdict.finding(
        f"{how} gives a view with a negative stride, and {sink.where} raises ValueError on it "
        f"{_where(verdict.exposure)}; copy it",
        place,
        how,
        verdict.why(model),
        (Fix("Copy it: `np.copy(...)`", "safe", (Wrap(place, "{numpy}.copy(", ")"),)),),
    )


def _where(exposure: Exposure) -> str:
    if exposure.lead.out_of_sight or exposure.lead.has_workers() != "no":
        return in_workers_of(exposure)
    return f"in the samples of {loaders_of(exposure)}"


RULE = Rule(
    code="LDR402",
    name="negative-stride-sample",
    severity=Severity.ERROR,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
    follows_data=True,
)
