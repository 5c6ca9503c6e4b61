"""The names of lambdas that become functions of the module."""

from __future__ import annotations

import pytest

from loaderlint.rules.unpicklable_callable.function_names import module_names, told_name
from tests.facts.test_digest import lowered

NAMES = [
    ("lambda x: x", "identity"),
    ("lambda image, label: (image, label)", "identity"),
    ('lambda image: image.convert("RGB")', "convert_to_rgb"),
    ('lambda image: image.convert("L")', "convert_to_grayscale"),
    ("lambda x: x.repeat(3, 1, 1)", "repeat_channels"),
    ("lambda x: x.repeat(3, 1, 1) if x.size(0) == 1 else x", "repeat_channels"),
    ("lambda x: x / 255.0", "divide_by_255"),
    ("lambda x: 255 * x", "multiply_by_255"),
    ("lambda x: x.mul_(255)", "multiply_by_255"),
    ("lambda x: x * 2 - 1", "rescale"),
    ("lambda x: x / 127.5", "rescale"),
    ("lambda x: 1 - x", "invert"),
    ("lambda x: -x", "negate"),
    ("lambda x: (x > 0.5).float()", "binarize"),
    ("lambda x: x.float()", "to_float"),
    ("lambda x: int(x)", "to_int"),
    ("lambda x: torch.from_numpy(x)", "to_tensor"),
    ("lambda x: np.asarray(x, dtype=np.float32)", "to_array"),
    ("lambda x: x.unsqueeze(0)", "apply_unsqueeze"),
    ("lambda image: image.unsqueeze(0)", "unsqueeze_image"),
    ("lambda x: F.one_hot(x, 10)", "apply_one_hot"),
    ("lambda img: augment(img)", "augment_img"),
    ("lambda image: cv2.cvtColor(image, 4)", "apply_cvt_color"),
    ("lambda batch: batch[0]", "first_item"),
    ("lambda batch: batch[-1]", "last_item"),
    ('lambda sample: sample["image"]', "get_image"),
    ("lambda img, magnitude: ImageOps.solarize(img, magnitude)", "solarize_img"),
    ("lambda x, seed: add_noise(x, seed)", "apply_add_noise"),
    ("lambda sample, idx, **kwargs: sample", "return_sample"),
    ("lambda x, *rest: x", "return_first_argument"),
    ("lambda x, y: y", "return_second_argument"),
    ("lambda x: None", "return_none"),
    ("lambda label: 0", "return_0"),
    ("lambda *args: True", "return_true"),
    ("lambda _: ()", "return_empty_tuple"),
    ("lambda x: [x]", "wrap_in_list"),
    ("lambda x: (x,)", "wrap_in_tuple"),
    ("lambda pair: (cutout(pair[0]), pair[1])", "apply_cutout"),
    ("lambda x: torch.log(torch.clamp(x, min=1e-5))", "clamp_and_log"),
    ("lambda x: F.normalize(F.to_tensor(x))", "to_tensor_and_normalize"),
]
UNTOLD = [
    "lambda: 1",
    "lambda x, y: x + y",
    "lambda x, y: x.cross(y)",
    "lambda x, y: blend(x, y * 2)",
    "lambda x, y: (y, x)",
    "lambda x: x / x.max()",
    "lambda x: x + torch.rand(3)",
    "lambda x: x[:3]",
    "lambda x: x.t()",
    "lambda x: x * 1e999",
    f"lambda x: x / 1{'0' * 400}",
    "lambda x: x.float().div(255)",
    "lambda x: F.normalize(F.to_tensor(F.crop(x)))",
    "lambda x: F.normalize(x.float())",
    "lambda x: F.add(F.to_tensor(x), F.zeros(x))",
    "lambda pair: (cutout(pair[0]), flip(pair[1]))",
    "lambda pair: (cutout(k), pair[1])",
    "lambda x: [x, x]",
    "lambda x: choose()(x)",
    "lambda x: x if x.ok else None",
    "lambda x, y, z: z",
    "lambda x: -1",
    'lambda x: "cat"',
]


USES = [
    ('t = {"shearX": f, "rotate": lambda x, k: x + k}', "apply_rotate"),
    ('t = {"shearX": lambda x, k: x + k}', "apply_shear_x"),
    ('t = {"invert": lambda x: invert(x)}', "apply_invert"),
    ('t = {"none": lambda x: x}', "identity"),
    ("t = Names(target_transform=lambda x: x + k)", "apply_target_transform"),
    ("def make_noise():\n    return lambda x, k: x + k", "apply_noise"),
    ("def main():\n    return lambda x, k: x + k", "apply_steps"),
    ("t = f(lambda x, k: x + k)", "apply_steps"),
    # arithmetic says less than the author, but more than 'transform'
    ("t = Names(scale=lambda x: x * 2)", "apply_scale"),
    ("t = f(lambda x: x * 2)", "apply_steps"),
    ("t.steps = lambda x, k: x", "return_first_argument"),
    ("t.crop = lambda x, k: x[k]", "apply_steps"),
    ("t = Names(index_to_name=lambda x, k: x[k])", "index_to_name"),
    ("t = Names(name_formatter=lambda x, k: x[k])", "name_formatter"),
    ("t = Names(tomato=lambda x, k: x[k])", "apply_tomato"),
]


@pytest.mark.parametrize(("code", "name"), USES)
def test_the_name_says_what_a_function_is_used_as(code: str, name: str) -> None:
    facts = lowered(f"{code}\n")
    number = next(n for n, one in enumerate(facts.ir.defs) if one.kind == "lambda")
    assert module_names(facts, number, "steps")[0] == name


@pytest.mark.parametrize("name", ["transform", "transform_image", "_transforms"])
def test_transform_says_less_than_arithmetic(name: str) -> None:
    facts = lowered("t = Names(transform=lambda x: x * 2)\n")
    assert module_names(facts, 1, name) == ["multiply_by_2", "apply_transform", f"apply_{name.strip('_')}"]


def _told(code: str) -> str:
    return told_name(lowered(f"f = {code}\n"), 1)


@pytest.mark.parametrize(("code", "name"), NAMES)
def test_the_name_says_what_the_lambda_does(code: str, name: str) -> None:
    assert _told(code) == name


@pytest.mark.parametrize("code", UNTOLD)
def test_what_does_more_has_no_name(code: str) -> None:
    assert _told(code) == ""
