"""What the user of a program sets: options of the command line, flags, configuration nodes, Hydra's files; and classes
that are chosen by a name."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import Instance
from tests.project.linking import Linked, link, link_files
from tests.project.test_values import shown

HEAD = """
import argparse, functools, importlib, os, sys, types
import hydra
from absl import flags
from easydict import EasyDict
from omegaconf import OmegaConf
from pathlib import Path
from torch.utils.data import DataLoader
from yacs.config import CfgNode
class A:
 def __init__(self, x=0, y=0): self.x, self.y = x, y
 def run(self): pass
 def stop(self): pass
class B(A): pass
def f(x): return x
def g(x): return x
"""


def value_of(folder: Path, files: dict[str, str], body: list[str]) -> str:
    """What the last line of a module may be, after its other lines."""
    *before, last = body
    text = "\n".join([HEAD, *before, f"loader = DataLoader(f, collate_fn={last})"]) + "\n"
    linked = link_files(folder, {**files, "case.py": text})
    return shown(linked.loader().argument("collate_fn"), linked.model).replace("argparse default", "default")


def option(folder: Path, code: str) -> str:
    """What `o.n` is after some lines. Lines of a file that the module imports stand before ` | `, those of a file that
    it does not import before ` || `."""
    far, _, code = code.rpartition(" || ")
    near, _, code = code.rpartition(" | ")
    head = "import argparse\np = argparse.ArgumentParser()\n"
    files = {name: head + lines + "\n" for name, lines in {"far.py": rows(far), "near.py": rows(near)}.items() if lines}
    body = [*["import near"] * bool(near), "p = argparse.ArgumentParser()", *code.split("; ")]
    if not any(line.startswith("o = ") for line in body):
        body.append("o = p.parse_args()")
    return value_of(folder, files, [*body, "o.n"])


def filling(many: int) -> str:
    """That many other keys of a configuration."""
    return "".join(f"k{number}: 1; " for number in range(many))


def rows(code: str) -> str:
    """A statement a line."""
    return "\n".join(code.split("; "))


def value(folder: Path, code: str) -> str:
    """What the last line may be."""
    return value_of(folder, {}, code.split("; "))


def configured(folder: Path, code: str) -> str:
    """What an expression of `cfg` may be. Before ` | `: the lines of conf/main.yaml and, each after its name, of other
    files."""
    written, _, expression = code.rpartition(" | ")
    main, *others = written.split(" @ ")
    files = {"conf/main.yaml": rows(main)}
    files |= {f"conf/{name}.yaml": rows(text) for name, _, text in (one.partition("= ") for one in others)}
    head = "" if "def main" in expression else "@hydra.main(config_path='conf', config_name='main'); def main(cfg):; "
    text = rows(f"{head} loader = DataLoader(f, collate_fn={expression})") if head else rows(expression)
    linked = link_files(folder, {**files, "case.py": f"{HEAD}{text}\nmain()\n"})
    return shown(linked.loader().argument("collate_fn"), linked.model).replace("configuration default", "default")


#: How an option `n` is declared and stored, and what `o.n` may be.
OPTIONS: dict[str, str] = {
    "p.add_argument('--n', default=3)": "3, default",
    "p.add_argument('--n', type=int, default=3)": "3, default",
    "p.add_argument('-n', default=3)": "3, default",
    "p.add_argument('n', default=3)": "3, default",
    "p.add_argument('-m', '--n', default=3)": "3, default",
    "p.add_argument('--m', dest='n', default=3)": "3, default",
    "p.add_argument('--n', dest='m', default=3)": "?config",
    "p.add_argument('--m', default=3)": "?config",
    "p.add_argument('--n')": "None, default",
    "p.add_argument('--n', required=True)": "?required option",
    "p.add_argument('--n', required=True, default=3)": "3, default",
    "p.add_argument('--n', action='store_true')": "False, default",
    "p.add_argument('--n', action='store_false')": "True, default",
    "p.add_argument('--n', action='store_true', default=None)": "None, default",
    "p.add_argument('--n', action='append')": "None, default",
    "p.add_argument('--n', default=load())": "?undefined name",
    "p.add_argument('--n', default=A)": "A",
    "p.add_argument('--n', default=[1, 2])": "[1, 2]",
    "p.add_argument('--n', default=3 if load() else 4)": "3, default | 4, default",
    "p.add_argument('--n', default=3); p.add_argument('--n', default=4)": "3, default | 4, default",
    "q = p.add_argument_group('q'); q.add_argument('--n', default=3)": "3, default",
    "add = p.add_argument; add('--n', default=3)": "?config",
    "p.set_defaults(n=3)": "3, default",
    "p.add_argument('--n', default=3); p.set_defaults(n=4)": "3, default | 4, default",
    "p.add_argument('--n', default=3); p.set_defaults(m=4)": "3, default",
    "p.add_argument('--n'); o = p.parse_args(); o.n = 4": "4",
    "p.add_argument('--n'); o = p.parse_args(); o['n'] = 4": "4",
    "p.add_argument('--n'); o = p.parse_args(); A.n = 4": "None, default",
    "p.add_argument('--n'); o = p.parse_args(); load().n = 4": "4 | None, default",
    "p.add_argument('--n'); o = p.parse_args(); o.m = 4": "None, default",
    "p.add_argument('--n', default=3); o = p.parse_args(); o.n = 4": "4",
    "p.add_argument('--n', default=3); o = p.parse_args(); o.n = 4; o.n = 5": "5",
    "p.add_argument('--n', default=3); o = p.parse_args(); o.n = o.n // 2": "3, default",
    "p.add_argument('--n', default=3); o = p.parse_args(); o = vars(o); o['n'] = 4": "4",
    "p.add_argument('--n', default=3); o = p.parse_args(); o = p.parse_args(); o.n = 4": "3, default",
    "p.add_argument('--n', default=3); o = p.parse_args(); other = load(); other.n = 4": "3, default",
    "p.add_argument('--n'); o = p.parse_args(); print('o.n = 3')": "None, default",
    "o = p.parse_args(); o.n = 4": "4",
    "def add_arg(n, d): p.add_argument('--' + n, default=d) | p.add_argument('--m')": "?config",
    "def add_arg(n, d): p.add_argument('--' + n, default=d); add_arg('n', 3) | p.add_argument('--m')": "3, default",
    "def add_arg(n, d): p.add_argument('--' + n, default=d); add_arg('--n', 3) | p.add_argument('--m')": "3, default",
    "def add_arg(n, d): p.add_argument('--' + n, default=d); add_arg('m', 3) | p.add_argument('--m')": "?config",
    "def add_arg(n, d): load(n, default=d); add_arg('n', 3) | p.add_argument('--m')": "?config",
    "p.add_argument('--n', default=3) | p.add_argument('--m')": "3, default",
    "p.add_argument('--n', default=3) | p.add_argument('--n', default=4)": "4, default",
    "p.add_argument('--n', default=3) || p.add_argument('--m')": "3, default",
    "p.add_argument('--n', default=3) || p.add_argument('--n', default=4)": "4, default",
    "p.add_argument('--n', default=3) || p.add_argument('--n', default=4) | p.add_argument('--m')": "4, default",
    "p.set_defaults(n=5) || p.add_argument('--n', default=4)": "4, default | 5, default",
    "p.add_argument('--n', default=3); o, rest = p.parse_known_args()": "3, default",
    "p.add_argument('--n', default=3); o = p.parse_known_args()[0]": "3, default",
    "p.add_argument('--n', default=3); o = p.parse_known_args()[1]": "?config",
    "p.add_argument('--n', default=3); o = p.parse_intermixed_args()": "3, default",
    "p.add_argument('--n', default=3); o = p.load()": "argparse.ArgumentParser.load().n",
    "p.add_argument('--n', default=3); o = load(p).parse_args()": "3, default",
    "p.add_argument('--n', default=3); o = load(p.parse_args())": "?undefined name",
    "p.add_argument('--n', default=3); o = EasyDict(vars(p.parse_args()))": "3, default",
    "p.add_argument('--n', default=3); o = EasyDict(p.parse_args().__dict__)": "3, default",
    "p.add_argument('--n', default=3); o = argparse.Namespace(n=4)": "4, configuration default",
    "p.add_argument('--n', default=3); o = argparse.Namespace(**{'n': 4})": "4, configuration default",
    "p.add_argument('--n', default=3); o = argparse.Namespace()": "argparse.Namespace().n",
    "p.add_argument('--n-n', default=3); o = p.parse_args(); o.n = o.n_n": "3, default",
    "p.add_argument(f'--{load()}', default=3)": "?config",
    "def h(p): p.add_argument('--n', default=3)": "3, default",
    "def h(p, d=5): p.add_argument('--n', default=d)": "5, default",
    "class H: add = lambda self, p: p.add_argument('--n', default=3)": "3, default",
    "load('--n', default=3)": "?config",
}
#: Module-level code and, last, what it may be.
VALUES: dict[str, str] = {
    "flags.DEFINE_integer('n', 3, 'help'); flags.FLAGS.n": "3, flag default",
    "flags.DEFINE_integer('n', default=3, help='help'); flags.FLAGS.n": "3, flag default",
    "flags.DEFINE_integer('m', 3, 'help'); flags.FLAGS.n": "?config",
    "flags.DEFINE_integer('m', 3, 'n'); flags.FLAGS.n": "?config",
    "flags.DEFINE_integer('n', load(), 'help'); flags.FLAGS.n": "?undefined name",
    "flags.DEFINE_integer('n', 3, 'help'); flags.DEFINE_integer('n', 4, 'help'); "
    "flags.FLAGS.n": "3, flag default | 4, flag default",
    "flags.DEFINE_integer('n'); flags.FLAGS.n": "None, flag default",
    "flags.DEFINE_integer(load(), 3); flags.FLAGS.n": "?config",
    "c = CfgNode(); c.N = 3; c.N": "3, configuration default",
    "c = CfgNode(); c.N = 3; c.M": "?config",
    "c = CfgNode(); c.A = CfgNode(); c.A.N = 3; c.A.N": "3, configuration default",
    "c = CfgNode(); c.A = CfgNode(); c.B = CfgNode(); c.A.N = 3; c.B.N = 4; c.A.N": "3, configuration default",
    "c = CfgNode(); c.A = CfgNode(); c.B = CfgNode(); c.B.N = 4; c.A.N": "4, configuration default",
    "c = CfgNode(); c.N = 3; c.N = 4; c.N": "3, configuration default | 4, configuration default",
    "c = CfgNode(); c.n = 3; c.n": "yacs.config.CfgNode().n",
    "c = CfgNode(); c.size = 3; c.size": "3, configuration default",
    "c = CfgNode(); c.N = 3; c.clone().N": "3, configuration default",
    "c = CfgNode(); load().N = 3; c.N": "3, configuration default",
    "c = CfgNode(); def h(c): c.N = 5; c.N": "?config",
    "c = EasyDict(); c.size = 3; c.size": "3, configuration default",
    "c = EasyDict(size=3); c.size": "3, configuration default",
    "c = EasyDict({'size': 3}); c.size": "3, configuration default",
    "c = EasyDict({'size': 3}, size=4); c.size": "4, configuration default",
    "c = EasyDict({'size': 3}); c.other": "?config",
    "c = EasyDict(load()); c.size": "?config",
    "c = types.SimpleNamespace(size=3); c.size": "3, configuration default",
    "c = types.SimpleNamespace(); c.size = 3; c.size": "3",
    "c = argparse.Namespace(size=4); c.size = 3; c.size": "3",
    "c = types.SimpleNamespace(); c.size = 4; c.size = 3; c.size": "3",
    "c = argparse.Namespace(size=4); x = c.size; c.size = 3; x": "4, configuration default",
    "c = types.SimpleNamespace(); c.size = 4; x = c.size; c.size = 3; x": "4",
    "c = types.SimpleNamespace(); c.size = 3; c.other": "types.SimpleNamespace().other",
    "c = types.SimpleNamespace(size=4); if load(): c.size = 3; c.size": "3 | 4, configuration default",
    "c = OmegaConf.create({'size': 3}); c.size": "3, configuration default",
    "c = OmegaConf.create({'size': {'a': 3}}); c.size": "{a: 3}",
    "c = OmegaConf.load('x'); c.size": "omegaconf.OmegaConf.load().size",
    "c = load(); c.size = 3; c.size": "?undefined name",
    "getattr(A(), 'run')": "A().run",
    "getattr(A(), 'run', None)": "A().run | None",
    "getattr(A(), 'go', f)": "f",
    "getattr(A(), load())": "?dynamic attribute | A().run | A().stop",
    "getattr(A(), load(), f)": "?dynamic attribute | A().run | A().stop",
    "getattr(importlib.import_module('case'), 'A')": "A",
    "getattr(importlib.import_module('case'), load())": "?dynamic attribute | A | B | f | g",
    "getattr(importlib.import_module(load()), 'A')": "?importlib",
    "getattr(sys.modules[__name__], 'A')": "A",
    "getattr(sys.modules[__name__], load())": "?dynamic attribute | A | B | f | g",
    "getattr(sys.modules['x'], 'A')": "?importlib",
    "globals()['A']": "A",
    "globals()['f']": "f",
    "globals()['missing']": "?undefined name",
    "globals()[load()]": "?globals | A | B",
    "globals()['A' + load()]": "?globals | A",
    "globals()[f'A{load()}']": "?globals | A | B",
    "globals()[f'{load()}A']": "?globals | A | B",
    "globals().get('A')": "A",
    "locals()['A']": "A",
    "vars()['A']": "A",
    "eval('A')": "A",
    "eval('A.run')": "run",
    "eval('A()')": "?eval | A()",
    "eval('load()')": "?eval",
    "eval('3')": "?eval",
    "eval(load())": "?eval",
    "eval('case.' + load())": "?eval",
    "eval(load() + '()')": "?eval",
    "n = load(); eval(n + '()')": "?eval",
    "n = load(); eval('A' + n)": "?eval",
    "n = load(); eval(n)": "?eval | A | B",
    "n = load(); eval(n['a'])": "?eval | A | B",
    "eval()": "?eval",
    "type('C', (A,), {})": "A",
    "type('C', (A,), {'x': 3})": "A",
    "type('C', (A,), {'__init__': f})": "?type",
    "type('C', (A,), {'run': f})": "?type",
    "type('C', (A, B), {})": "?type",
    "type('C', (), {})": "?type",
    "type('C', (load(),), {})": "?type",
    "type('C', load(), {})": "?type",
    "type('C', (A,), load())": "?type",
    "{'a': A, 'b': B}['a']": "A",
    "{'a': A, 'b': B}[load()]": "?looked up by a key | A | B",
    "{'a': A, 'b': B}.get(load())": "?looked up by a key | A | B",
    "{'a': A, 'b': B}.get(load(), f)": "?looked up by a key | A | B | f",
    "{}[load()]": "?empty mapping",
}
#: A configuration, other files after ` @ `, and what an expression of it may be.
CONFIGURED: dict[str, str] = {
    "a: 3 | cfg.a": "3, default",
    "a: 3 | cfg['a']": "3, default",
    "a: 3 | cfg.b": "?config",
    "a: 3 | cfg": "Namespace",
    "a: {b: 4} | cfg.a.b": "4, default",
    "a: {b: 4} | cfg.a['b']": "4, default",
    "a: {b: 4} | cfg.a": "Namespace",
    "a: {b: 4} | cfg.a.c": "?config",
    "a: [1, 2] | cfg.a": "[1, default, 2, default]",
    "a: [1, 2] | cfg.a[1]": "2, default",
    "a: [{b: 5}] | cfg.a[0].b": "5, default",
    "a: null | cfg.a": "None, default",
    "a: true | cfg.a": "True, default",
    "a: 1.5 | cfg.a": "1.5, default",
    "a: x | cfg.a": "'x', default",
    "a: 2020-01-01 | cfg.a": "'2020-01-01', default",
    "a: ${b}; b: 7 | cfg.a": "7, default",
    "a: ${b.c}; b: {c: 7} | cfg.a": "7, default",
    "a: ${b}; b: ${c}; c: 8 | cfg.a": "8, default",
    "a: ${b}; b: ${a} | cfg.a": "?config",
    "a: ${missing} | cfg.a": "?config",
    "a: x${b}; b: 7 | cfg.a": "?config",
    "a: ${oc.env:HOME} | cfg.a": "?config",
    "a: ${b}; b: [1, 2] | cfg.a": "[1, default, 2, default]",
    "a: ${b.1}; b: [1, 2] | cfg.a": "2, default",
    "a: ${b.5}; b: [1, 2] | cfg.a": "?config",
    "a: ${b.x}; b: [1, 2] | cfg.a": "?config",
    "defaults: [other]; a: 3 @ other= b: 4 | cfg.b": "4, default",
    "defaults: [other]; a: 3 @ other= a: 4 | cfg.a": "3, default",
    "defaults: [_self_, other]; a: 3 @ other= a: 4 | cfg.a": "4, default",
    "defaults: [other, _self_]; a: 3 @ other= a: 4 | cfg.a": "3, default",
    "defaults: [missing]; a: 3 | cfg.a": "3, default",
    "defaults: [{db: one}]; a: 3 @ db/one= b: 4 | cfg.db.b": "4, default",
    "defaults: [{db: one}]; a: 3 @ db/one= b: 4 | cfg.b": "?config",
    "defaults: [{db: one.yaml}]; a: 3 @ db/one= b: 4 | cfg.db.b": "4, default",
    "defaults: [{db: [one, two]}]; a: 3 @ db/one= b: 4 @ db/two= c: 5 | cfg.db.c": "5, default",
    "defaults: [{db: [one, two]}]; a: 3 @ db/one= b: 4 @ db/two= b: 5 | cfg.db.b": "5, default",
    "defaults: [{optional db: one}]; a: 3 @ db/one= b: 4 | cfg.db.b": "4, default",
    "defaults: [{override db: one}]; a: 3 @ db/one= b: 4 | cfg.db.b": "?config",
    "defaults: [{db@x: one}]; a: 3 @ db/one= b: 4 | cfg.x.b": "4, default",
    "defaults: [{db@_global_: one}]; a: 3 @ db/one= b: 4 | cfg.b": "4, default",
    "defaults: [{db@x.y: one}]; a: 3 @ db/one= b: 4 | cfg.x.y.b": "4, default",
    "defaults: [db/one]; a: 3 @ db/one= b: 4 | cfg.db.b": "4, default",
    "defaults: [db/one@x]; a: 3 @ db/one= b: 4 | cfg.x.b": "4, default",
    "defaults: [/db/one]; a: 3 @ db/one= b: 4 | cfg.db.b": "4, default",
    "defaults: [{db: null}]; a: 3 @ db/one= b: 4 | cfg.db.b": "?config",
    "defaults: [{db: '${x}'}]; a: 3 @ db/one= b: 4 | cfg.db.b": "?config",
    "defaults: [{db: one}]; db: {c: 5} @ db/one= b: 4 | cfg.db.b": "4, default",
    "defaults: [{db: one}]; db: {c: 5} @ db/one= b: 4 | cfg.db.c": "5, default",
    "defaults: [{db: one}]; db: 5 @ db/one= b: 4 | cfg.db": "5, default",
    "defaults: [{db: one}]; a: 3 @ db/one= defaults: [two] @ db/two= b: 4 | cfg.db.b": "4, default",
    "defaults: [{db: one}]; a: 3 @ db/one= defaults: [/db/two] @ db/two= b: 4 | cfg.db.b": "?config",
    "defaults: x; a: 3 | cfg.a": "3, default",
    "defaults: [main]; a: 3 | cfg.a": "3, default",
    "- 1 | cfg.a": "?parameter",
    "x: [ | cfg.a": "?parameter",
    "m: {_target_: case.A, x: 3} | hydra.utils.instantiate(cfg.m)": "A()",
    "m: {_target_: case.A, x: 3} | hydra.utils.instantiate(cfg.m).x": "3, default",
    "m: {_target_: case.A, x: 3} | hydra.utils.instantiate(cfg.m, x=4).x": "4",
    "m: {_target_: case.A, x: 3} | hydra.utils.instantiate(cfg.m, 5).x": "5",
    "m: {_target_: case.A, x: 3} | hydra.utils.instantiate(cfg.m, y=4).y": "4",
    "m: {_target_: case.A, x: 3} | hydra.utils.instantiate(cfg.m).y": "0, default",
    "m: {x: 3} | A(**cfg.m).x": "3, default",
    "m: {x: 3} | A(**cfg.m).y": "0, default",
    "m: {x: 3} | A(**cfg.m, y=4).y": "4",
    "m: {x: 3} | A(cfg.m.x).y": "0",
    "m: {x: 3} | (lambda **more: A(**more))(**cfg.m).y": "0, default",
    "m: {x: 3} | (lambda **more: A(**more))(x=3).y": "0",
    f"{filling(100)}y: 3 | A(**cfg).y": "3, default",
    f"{filling(300)}y: 3 | A(**cfg).y": "?kwargs",
    f"{filling(300)}y: 3 | cfg.y": "3, default",
    f"a: {list(range(300))} | cfg.a": "?too many values",
    "m: {_target_: case.A, _partial_: true} | hydra.utils.instantiate(cfg.m)": "hydra.utils.instantiate()",
    "m: {_target_: case.A, _partial_: false} | hydra.utils.instantiate(cfg.m)": "A()",
    "m: {_target_: case.f} | hydra.utils.instantiate(cfg.m)": "?parameter",
    "m: {_target_: missing.A} | hydra.utils.instantiate(cfg.m)": "missing.A()",
    "m: {_target_: case.Missing} | hydra.utils.instantiate(cfg.m)": "?unresolved import",
    "m: {_target_: A} | hydra.utils.instantiate(cfg.m)": "hydra.utils.instantiate()",
    "m: {_target_: 3} | hydra.utils.instantiate(cfg.m)": "hydra.utils.instantiate()",
    "m: {x: 3} | hydra.utils.instantiate(cfg.m)": "hydra.utils.instantiate()",
    "m: {_target_: case.A, x: {_target_: case.B, x: 6}} | hydra.utils.instantiate(cfg.m).x": "B()",
    "m: {_target_: case.A, x: {_target_: case.Missing}} | hydra.utils.instantiate(cfg.m).x": "?config",
    "m: {_target_: case.A, x: {z: 6}} | hydra.utils.instantiate(cfg.m).x.z": "6, default",
    "m: {_target_: case.A, x: [1]} | hydra.utils.instantiate(cfg.m).x": "[1, default]",
    "m: {_target_: '${t}'}; t: case.A | hydra.utils.instantiate(cfg.m)": "A()",
    "m: {_target_: case.A} | hydra.utils.call(cfg.m)": "A()",
    "m: {_target_: case.A} | load(cfg.m)": "?undefined name",
    "m: {_target_: case.A} | hydra.utils.instantiate(config=cfg.m)": "hydra.utils.instantiate()",
    "m: {_target_: case.A} | hydra.utils.instantiate(cfg)": "hydra.utils.instantiate()",
    "t: case.A | hydra.utils.get_class(cfg.t)": "A",
    "t: case.A | hydra.utils.get_class('case.B')": "B",
    "t: case.A | hydra.utils.get_class(cfg)": "hydra.utils.get_class()",
    "t: case.A | hydra.utils.get_class(load())": "hydra.utils.get_class()",
    "t: case.A | hydra.utils.get_class(3)": "hydra.utils.get_class()",
    "t: case.A | hydra.utils.get_object('case.f')": "f",
    "t: case.A | hydra.utils.get_method('case.f')": "hydra.utils.get_method()",
    "a: 3 | @hydra.main(config_path='conf', config_name='main.yaml'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "3, default",
    "a: 3 | @hydra.main('conf', 'main'); def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "3, default",
    "a: 3 | @hydra.main(config_path='./conf', config_name='main'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "3, default",
    "a: 3 | @hydra.main(config_path='other', config_name='main'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "?parameter",
    "a: 3 | @hydra.main(config_path=load(), config_name='main'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "?parameter",
    "a: 3 | @hydra.main(config_path='conf'); def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "?parameter",
    "a: 3 | @hydra.main(config_path='conf', config_name=load()); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "?parameter",
    "a: 3 | @hydra.main(config_path=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'conf'), "
    "config_name='main'); def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "3, default",
    "a: 3 | @hydra.main(config_path=str(Path(__file__).parent / 'conf'), config_name='main'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "3, default",
    "a: 3 | @hydra.main(config_path=str(Path(__file__).resolve().parent.joinpath('conf')), config_name='main'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "3, default",
    "a: 3 | @hydra.main(config_path=str(Path(__file__).parent.parent / 'conf'), config_name='main'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "?parameter",
    "a: 3 | @hydra.main(config_path=load(__file__), config_name='main'); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "?parameter",
    "a: 3 | @hydra.main(config_path='conf', config_name=Path('x/main.py').stem); "
    "def main(cfg): loader = DataLoader(f, collate_fn=cfg.a)": "3, default",
}


@pytest.mark.parametrize("code", OPTIONS)
def test_what_an_option_is(code: str, tmp_path: Path) -> None:
    assert option(tmp_path, code) == OPTIONS[code]


@pytest.mark.parametrize("code", VALUES)
def test_what_a_setting_is(code: str, tmp_path: Path) -> None:
    assert value(tmp_path, code) == VALUES[code]


@pytest.mark.parametrize("code", CONFIGURED)
def test_what_hydra_gives(code: str, tmp_path: Path) -> None:
    assert configured(tmp_path, code) == CONFIGURED[code]


#: How a program names its dataset by an option, the option, and the datasets that its loader may hold.
CHOICES = {
    "a dict": ("KINDS[args.kind]()", 'choices=["a", "b"]', "A B"),
    "a dict, with a default": ("KINDS[args.kind]()", 'choices=("a", "b"), default="a"', "A B"),
    "a dict, anything": ("KINDS[args.kind]()", 'default="a"', "A B C"),
    "a dict, anything else in the code": ("KINDS[args.kind]()", 'choices=["a", other]', "A B C"),
    "a dict, its keys": ("KINDS[args.kind]()", "choices=KINDS, required=True", "A B C"),
    "getattr": ("getattr(data, args.kind)()", 'choices=["A", "B"], required=True', "A B"),
    "getattr, none of its names": ("getattr(data, args.kind)()", 'choices=["x"]', "A B C"),
    "globals": ("globals()[args.kind]()", 'choices=["A", "B"]', "A B"),
    "eval": ("eval(args.kind)()", 'choices=["A", "B"]', "A B"),
    "a branch": ('A() if args.kind == "a" else pick(args)', 'choices=["a", "b"]', "A B"),
}


@pytest.mark.parametrize("way", CHOICES)
def test_an_option_accepts_only_its_choices(way: str, tmp_path: Path) -> None:
    made, option, datasets = CHOICES[way]
    linked = _chosen(tmp_path, made, option)
    assert linked.datasets("loader") == datasets.split()


def test_an_option_that_the_code_sets_is_anything(tmp_path: Path) -> None:
    linked = _chosen(tmp_path, "KINDS[args.kind]()", 'choices=["a", "b"]', "args.kind = other")
    assert linked.datasets("loader") == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("option", "guessed"),
    [
        ('choices=["A", "B"]', ""),
        ('choices=["A", "B"], required=True', ""),
        ('choices=["A", "B"], default="A"', "B"),
        ('default="A"', "B C"),
    ],
)
def test_a_choice_that_is_not_the_default_is_possible(option: str, guessed: str, tmp_path: Path) -> None:
    loader = _chosen(tmp_path, "getattr(data, args.kind)()", option).loader("loader")
    classes = loader.guessed & set(loader.datasets)
    assert len([one for one in classes if isinstance(one, Instance)]) == len(guessed.split())


@pytest.mark.parametrize(
    ("option", "workers"),
    [
        ("type=int, choices=[2, 4]", "num_workers=2 or 4, argparse choice"),
        ("type=int, choices=[0, 4]", "num_workers=0 or 4, argparse choice"),
        ("type=int, choices=[2, 4], default=2", "num_workers=2, argparse default"),
        ("type=int, choices=range(4)", "num_workers unknown"),
    ],
)
def test_a_number_is_one_of_its_choices(option: str, workers: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""
import argparse
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--workers", {option})
args = parser.parse_args()
loader = DataLoader([1], num_workers=args.workers)
""",
    )
    assert linked.loader().workers_text == workers


PARSER = """--- train.py
import argparse
import yaml
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=4)
args = parser.parse_args()
"""
TAKE = """import yaml
def take(args, path):
    for name, value in yaml.safe_load(open(path)).items():
        setattr(args, name, value)
"""
CONFIG = "--- conf/small.yaml\nworkers: 1\n"


@pytest.mark.parametrize(
    ("take", "files", "workers"),
    [
        ("from tools import take\ntake(args, args.path)", f"--- tools.py\n{TAKE}{CONFIG}", (1, 4)),
        ("", f"--- tools.py\n{TAKE}{CONFIG}", (4, 4)),
        ("from tools import take\ntake(args, args.path)", f"--- tools.py\n{TAKE}", (4, 4)),
        (f"{TAKE}take(args, args.path)", CONFIG.replace("workers", "folder"), (4, 4)),
        (f"{TAKE}take(args, args.path)", CONFIG, (1, 4)),
    ],
)
def test_a_configuration_file_may_replace_a_default(
    take: str, files: str, workers: tuple[int, int], tmp_path: Path
) -> None:
    loader = "loader = DataLoader([1], num_workers=args.workers)\n"
    found = link(tmp_path, f"{PARSER}{take}\n{loader}{files}").loader().workers
    assert (found.least, found.most) == workers


#: How many workers the loader of a program has that sets an attribute of a record.
ASSIGNED = {
    "in a function": """
        def main():
            c = argparse.Namespace()
            c.workers = 0
            loader = DataLoader(f, num_workers=c.workers)
    """,
    "in a function, in the record of a library": """
        def main():
            c = EasyDict()
            c.workers = 0
            loader = DataLoader(f, num_workers=c.workers)
    """,
    "what a function gives": """
        def make():
            c = argparse.Namespace()
            c.workers = 0
            return c
        def main():
            c = make()
            loader = DataLoader(f, num_workers=c.workers)
    """,
    "for an object": """
        class Run:
            def __init__(self):
                self.c = types.SimpleNamespace()
                self.c.workers = 0
            def main(self):
                loader = DataLoader(f, num_workers=self.c.workers)
    """,
    "set again, on what a function gives": """
        def make():
            c = argparse.Namespace()
            c.workers = 0
            return c
        def main():
            c = make()
            c.workers = 4
            loader = DataLoader(f, num_workers=c.workers)
    """,
    "set again": """
        def main():
            c = argparse.Namespace(workers=0)
            c.workers = 4
            loader = DataLoader(f, num_workers=c.workers)
    """,
    "set again by a function": """
        def change(c):
            c.workers = 4
        def main():
            c = argparse.Namespace()
            c.workers = 0
            change(c)
            loader = DataLoader(f, num_workers=c.workers)
    """,
    "set again in the loop": """
        def main():
            c = types.SimpleNamespace()
            c.workers = 0
            for epoch in range(3):
                loader = DataLoader(f, num_workers=c.workers)
                c.workers = 4
    """,
}
WORKERS = {
    "in a function": "num_workers=0",
    "in a function, in the record of a library": "num_workers=0",
    "what a function gives": "num_workers=0",
    "for an object": "num_workers=0",
    "set again, on what a function gives": "num_workers=0 or 4",
    "set again": "num_workers=4",
    "set again by a function": "num_workers=0 or 4",
    "set again in the loop": "num_workers=0 or 4",
}


@pytest.mark.parametrize("way", ASSIGNED)
def test_what_code_assigns_to_a_record(way: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"{HEAD}{textwrap.dedent(ASSIGNED[way])}")
    assert linked.loader().workers_text == WORKERS[way]


def _chosen(folder: Path, made: str, option: str, before: str = "pass") -> Linked:
    """A program whose loader holds what `made` makes, and that declares option `kind`."""
    return link(
        folder,
        f"""
--- data.py
from torch.utils.data import Dataset
class A(Dataset):
    def __getitem__(self, i):
        return i
class B(A):
    pass
class C(A):
    pass
def tests():
    return A()[0], B()[0], C()[0]
--- main.py
import argparse
import data
from data import A, B, C
from torch.utils.data import DataLoader
other = open("kinds").read()
KINDS = {{"a": A, "b": B, "c": C}}
parser = argparse.ArgumentParser()
parser.add_argument("--kind", {option})
def pick(args):
    return C() if args.kind == "c" else B()
def main():
    args = parser.parse_args()
    {before}
    loader = DataLoader({made}, num_workers=2)
main()
""",
    )
