"""Random programs that make loaders: with options that are calculated, changed and passed on, through functions,
classes, `partial` and dicts of classes. `flag(n)` and `fail(n)` come from a module that no reader of the program can
see."""

from __future__ import annotations

import random
import re

HEAD = """\
from dataclasses import dataclass
from functools import partial

from torch.utils.data import DataLoader
from unseen import flag, fail


class CFG:
    workers = 3


@dataclass
class Config:
    workers: int = 5
    shuffle: bool = False


cfg = Config()


class Own(DataLoader):
    def __init__(self, rows, num_workers=1, *args, **kwargs):
        kwargs.setdefault("persistent_workers", num_workers > 0)
        super().__init__(rows, *args, num_workers=num_workers, **kwargs)


def build(rows, workers=2, shuffle=False, **more):
    if shuffle:
        more["batch_size"] = 8
    more.pop("num_workers", None)
    return DataLoader(rows, shuffle=shuffle, num_workers=workers, **more)


def build_again(rows, *args, **kwargs):
    kwargs = {key: value for key, value in kwargs.items() if key != "shuffle"}
    return build(rows, *args, **kwargs)


half = partial(DataLoader, num_workers=2, batch_size=2)
LOADERS = {"own": Own, "plain": DataLoader}


class Module:
    def __init__(self, workers=6, **options):
        self.workers = workers
        self.options = dict(options, num_workers=workers)
        self.batch = 4

    def loader(self, shuffle=False):
        return DataLoader([], batch_size=self.batch, **self._options(shuffle))

    def _options(self, shuffle):
        options = dict(self.options)
        options["shuffle"] = shuffle
        return options

    def other(self):
        if self.workers > 3:
            self.workers = 1
        return DataLoader([], num_workers=self.workers)


class Child(Module):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.batch = 16


"""
#: Numbers of workers.
_NUMBERS = (
    "0;2;4;workers;workers;options.get('num_workers', 3);max(1, workers);min(workers, 4);workers if train else 0"
    ";0 if not train else 4;workers or 1;workers * 2;int('3');CFG.workers;cfg.workers;kw.get('num_workers', 2)"
    ";options['num_workers'] if 'num_workers' in options else 1;kw.pop('num_workers', 2)"
).split(";")
_FLAGS = "True;False;train;workers > 0;not train;mode == 'train'".split(";")
_TESTS = (
    "F;F;workers > 0;workers;train;not train;'shuffle' in options;options.get('num_workers');kw;len(kw) > 0"
    ";mode == 'train';options.get('num_workers', 0) > 0"
).split(";")
#: Statements: `N` is a number of workers, `B` a flag.
_STATEMENTS = (
    "workers = N;options['num_workers'] = N;options['shuffle'] = B;options.update(num_workers=N)"
    ";options.setdefault('num_workers', N);options.pop('num_workers', None);options = dict(num_workers=N)"
    ";options = {**options, 'num_workers': N};options = dict(options, shuffle=train);kw['num_workers'] = N"
    ";kw.setdefault('num_workers', N);kw.update(persistent_workers=B);train = B;CFG.workers = N;cfg.workers = N"
    ";options |= {'num_workers': N};options = {k: v for k, v in options.items() if v is not None}"
    ";kw = {**options, **kw};mode = 'val';workers += 1"
).split(";")
_LOADERS = (
    "DataLoader([], num_workers=N);DataLoader([], **options);DataLoader([], **{**options, **kw})"
    ";DataLoader([], 4, train, num_workers=N);Own([], **options);Own([], num_workers=N, shuffle=train);Own([], N)"
    ";build([], N);build([], workers=N, shuffle=train);build([], **kw);build_again([], N, **kw);half([], shuffle=B)"
    ";Module(N).loader();Module(N, shuffle=train).loader(train);Module(workers).other();Child(N).loader()"
    ";[DataLoader([], num_workers=n) for n in (0, workers)];LOADERS['own' if train else 'plain']([], num_workers=N)"
    ";(lambda n: DataLoader([], num_workers=n))(N)"
).split(";")
_CALLS = (
    "main(2);main(workers=0);main(3, False);main(4, num_workers=2);main(cfg.workers, shuffle=True)"
    ";main(CFG.workers);main(*[1, True])"
).split(";")


_NUMBER, _FLAG = re.compile(r"\bN\b"), re.compile(r"\bB\b")


class _Program:
    """Writes one program."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._asked = 0

    def lines(self) -> list[str]:
        """The lines of the program, without its head."""
        options = ["options or {'num_workers': workers}", "dict(num_workers=workers, shuffle=train)"]
        body = [f"options = {self._chance.choice(options)}"]
        for _ in range(self._chance.randint(1, 5)):
            body += self._statement(3)
        body += [f"loader = {self._filled(self._chance.choice(_LOADERS))}" for _ in range(2)]
        head = "def main(workers, train=True, mode='train', options=None, **kw):"
        return [head, *_deeper(body), "", "", self._chance.choice(_CALLS)]

    def _block(self, depth: int) -> list[str]:
        return _deeper([line for _ in range(self._chance.randint(1, 2)) for line in self._statement(depth)])

    def _statement(self, depth: int) -> list[str]:
        kind = self._chance.random()
        if depth == 0 or kind < 0.6:
            return [self._filled(self._chance.choice(_STATEMENTS))]
        if kind < 0.85:
            lines = [f"if {self._filled(self._chance.choice(_TESTS))}:", *self._block(depth - 1)]
            return [*lines, "else:", *self._block(depth - 1)] if self._chance.random() < 0.5 else lines
        if kind < 0.93:
            self._asked += 1
            body = [*self._block(depth - 1), f"    fail({self._asked})"]
            return ["try:", *body, "except ValueError:", *self._block(depth - 1)]
        return ["for mode in ('train', 'val'):", *self._block(depth - 1)]

    def _filled(self, text: str) -> str:
        if text == "F":
            self._asked += 1
            return f"flag({self._asked})"
        for mark, choices in ((_NUMBER, _NUMBERS), (_FLAG, _FLAGS)):
            while mark.search(text):
                text = mark.sub(self._chance.choice(choices), text, count=1)
        return text


def _deeper(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def program(seed: int) -> str:
    """A random program: the same one for the same seed."""
    return HEAD + "\n".join(_Program(random.Random(seed)).lines()) + "\n"
