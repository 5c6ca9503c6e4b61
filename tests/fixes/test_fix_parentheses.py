"""The value of a statement that is too long for a line, as ruff lays it out."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loaderlint.fixes.brackets import Width
from loaderlint.fixes.long_calls import on_few, on_one_each
from loaderlint.fixes.parentheses import in_parentheses

_LENGTH = 60

#: Statements that are too long, or heads of such.
LONG = [
    # A chain of methods: as a whole, or with each method on a line; what the last one gives is on the line of that.
    "return self._get_con().execute('select').fetchone().names",
    "row = self._get_con().execute('select v from t', (i,)).fetchone()[0]",
    "yield self._get_con().execute('select v from t', (i,)).fetchone()[0]",
    "x = self._get_file()['images']['of the train set'].of_training[i].y.z",
    "for x in self._get_file()['images'].in_order(a).of_training().first():",
    "raw = self._get_env().begin(write=False).get(self.keys_of_it[index])",
    # One method or item alone: the brackets at the end, if there are some and the line fits up to there.
    "image = self._get_zip().read(self.names_of_the_images[index], 1)",
    "image = self._get_file()['images'][self.numbers_of_images[index]]",
    "if self._get_file().holds(self.numbers_of_images[index], index):",
    "with self._get_zip().open(self.names_of_the_images[index]) as file:",
    "return not self._get_zip().holds(self.names_of_the_images[index])",
    "self._get_zip().write(self.names_of_the_images[index], image, 1)",
    "self._get_env().begin().put(self.names_of_the_images[index], image)",
    "self.images_of_the_train_set = self._get_file().images_of_training",
    "assert self._get_rng().random_of_this_process() < self.probability_b",
    # Operators: those that bind least.
    "shift = self.sigma_of_it * self._get_rng().normal(0.0, 1.0, size=9)",
    "shift = self.sigma_of_it * (self._get_rng().normal() + self.rand(1))",
    "shift = a_of_it * b_of_it * self._get_rng().normal(0.0, 1.0, size=9)",
    "shift = a_of_it + self._get_rng().normal(0.0, size=9) - mean_of_it_all",
    "return mean_of_all + self._get_env().begin(1).get(self.keys_of[index])",
    "shift = self._get_rng().normal(0.0, 1.0, size=9) * self.sigma_of_it",
    "shift += self._get_rng().normal(0.0, 1.0, size=9) + a * b - (c - d)",
    "shift: float = self._get_rng().normal(0.0, 1.0, 9) * a / b[c] % d",
    "return self._get_rng().random() < self.p and aaaaaa() or c(d)",
    "return c(d) or self._get_rng().random() < self.p and (aaa and b) and c",
    "if self._get_rng().random() < self.probability and self.is_train:",
    "elif self._get_rng().random() < self.probability and self.train_it:",
    "while 0 < self._get_rng().random() < self.probability_of_the_next(1):",
    "return self._get_rng().random() if self.is_train else self.value_of_it",
    # Elements.
    "image, label = self._get_file()['images'][i], self._get_file()['l'][i]",
    "return (self._get_file()['images'][i], self._get_file()['labels'][i])",
    "return {'image': self._get_file()['images'][i], 'label': labels[i]}",
    "return {**self.fields, 'image': self._get_file()['images'][i], **more}",
    "return [self._get_file()['images'][i], self._get_file()['labels'][i]]",
    # It has parentheses.
    "return ((self._get_rng().random_of_it() - self.mean) - a - self.rand(1))",
    "return (self._get_rng().random_of_this_process() + self.random(1, 2))",
]
#: Statements that stay on their line, because no way fits or is known.
LEFT = [
    "return self._get_rng().a_function_with_a_name_that_is_longer_than_a_line",
    "x = (self._get_rng().random() + self.mean_of_it) * self.sigma_of_them",
    "return (self._get_rng().random_of_this_process()), (self.random(1, 2))",
    "x = a + self.mean_of_it; y = self._get_rng().random_of_it() + self.b",
    "with self._get_zip().open_of_this_process_with_a_name() as file_of_it:",
    "self._get_rng().random_of_this_process_with_a_name().and_another().one()",
    "if self._get_rng().random_of_this_process() < self.probability_b: pass",
    "'a': self._get_rng().random_of_this_process() + self.random_of_the_it,",
    "return f'{self._get_rng().random_of_this_process()} {self.random_of_it}'",
    "x = '\u00e4' + self._get_rng().random_of_this_process() + self.random_of",
]


def _around(line: str) -> tuple[str, str]:
    """What stands above and below a line in a function of a module."""
    above = "class D:\n    def f(self):\n"
    if line.startswith("elif"):
        above += "        if a:\n            pass\n"
    return above, "            pass\n" if line.endswith(":") else ""


@pytest.mark.parametrize("line", LONG)
def test_lines_are_broken_as_ruff_breaks_them(line: str) -> None:
    above, below = _around(line)
    broken = in_parentheses(" " * 8 + line, Width(" " * 8, " " * 4, _LENGTH), on_one_each)
    text = above + "".join(f"{one}\n" for one in broken) + below
    assert len(broken) > 1
    options = ["--isolated", "--line-length", str(_LENGTH), "--config", "format.quote-style = 'preserve'"]
    command = [sys.executable, "-m", "ruff", "format", *options, "-"]
    given = f"{above}        {line}\n{below}"
    formatted = subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=60).stdout
    assert text == formatted


@pytest.mark.parametrize("line", LEFT)
def test_other_lines_stay_as_they_are(line: str) -> None:
    assert len(line) > _LENGTH
    assert not in_parentheses(line, Width("", " " * 4, _LENGTH), on_one_each)


def test_a_tuple_keeps_its_only_comma() -> None:
    assert not in_parentheses("return self._get_rng().random(),", Width("", "    ", 30), on_few)


def test_elements_are_on_few_lines_where_no_formatter_is_known() -> None:
    line = "sample = [self.image, self.label, self.name, self.index]"
    broken = in_parentheses(line, Width("", "    ", 40), on_few)
    assert broken == ["sample = [", "    self.image, self.label, self.name,", "    self.index", "]"]
