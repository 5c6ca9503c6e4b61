"""Write the skeleton of a rule: its module and its page of cases.

python scripts/new_rule.py LDR110 frozen-shuffle-seed --needs W1
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RULES = Path("server/loaderlint/rules")
CASES = Path("tests/rules")

#: The page, which every rule has.
_PAGE = '''"""
# {name} ({code})

## What it does
Finds THE FAULT in code that a loader's workers run.

## Why is this bad?
Say what THE FAULT does, what was measured, and with which versions.

## When it is not a bug
- Code that looks like THE FAULT but is correct.

## Example
```python
train_loader = DataLoader(Samples(), num_workers=4)  # THE FAULT
```

## Fixed
```python
train_loader = DataLoader(Samples(), num_workers=4)  # without THE FAULT
```

## Fix safety
There is no fix.

## References
- [Data loading](https://pytorch.org/docs/stable/data.html)
"""

'''

#: What follows for a rule over functions that workers run.
_FUNCTION = '''from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of

#: Full names, those of builtins too (`builtins.open`). Move them to a table in `loaderlint.knowledge` once the rule
#: works.
_CALLS = frozenset({{"package.function"}})


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each call."""
    for one in judged(RULE, _candidates(function, model), model):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[WorkerCall]]:
    """The calls that are faults if workers run them."""
    for call in model.calls(function):
        if any(isinstance(atom, Lib) and atom.name in _CALLS for atom in call.callee.only(Lib)):
            here = Spot(call.frame, call.number)
            yield Candidate(call, call.frame, here, key=here.key)


def _finding(verdict: WorkerVerdict[WorkerCall], model: Model) -> Finding:
    return verdict.finding(
        f"what happens, and why here {{in_workers_of(verdict.exposure)}}; what to do",
        verdict.spot.place(model),
        "package.function",
        verdict.why(model),
    )


'''

#: What follows for a rule over loaders.
_LOADER = '''from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import certainty_of_workers, undoubted
from loaderlint.rules.shared.loader_call import written
from loaderlint.rules.shared.silence_reasons import few_workers


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each loader, at the argument."""
    argument = written(loader, "timeout", model)
    if argument is None or model.ev.eval(argument.number, argument.frame).literal is None:
        return
    if loader.has_workers() == "no":
        if model.explains:
            yield Silence(RULE.name, argument.place(model), few_workers(loader))
        return
    yield undoubted(RULE, certainty_of_workers(loader)).finding(
        f"what happens, and why here (`timeout` of {{loader.described}}); what to do",
        argument.place(model),
        "timeout",
    )


'''

_RULE = """RULE = Rule(
    code="{code}",
    name="{name}",
    severity=Severity.{severity},
    needs="{needs}",
    over="{over}",
    find=find,
    fix=None,
    page=page(__doc__),
)
"""

_CASES = """# {name} ({code})

Say what THE FAULT is, and on which line the finding is.

## The usual form
Say why this is a fault, and put `# {severity}: [{name}]` at the end of the line.

```python
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return index


train_loader = DataLoader(Samples(), num_workers=4)
```

```text messages
```

## A near miss
Say why this is correct. Write at least 5 faults and 8 near misses; this one needs the call of the fault, so that the
block below gets the reason for the silence.

```python
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return index


train_loader = DataLoader(Samples())
```

```text silences
```
"""


class Refused(Exception):
    """The skeleton cannot be written. The message says why."""


def write(
    root: Path, code: str, name: str, needs: str, severity: str, over: str = "worker function"
) -> tuple[Path, Path]:
    """Write the two files below `root` and return their paths from there. Raises Refused."""
    if not re.fullmatch(r"LDR[1-9]\d\d", code):
        raise Refused(f"'{code}' is not a code: write LDR and three digits, the first for the family")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name):
        raise Refused(f"'{name}' is not a name: write two or more lower-case words with dashes between them")
    for module in sorted((root / RULES).rglob("*.py")):
        if f'code="{code}"' in module.read_text("utf-8"):
            owner = module.relative_to(root).as_posix()
            raise Refused(f"{code} is taken by {owner}: choose a free code (docs/rules/README.md lists all)")
    files = {
        RULES / f"{name.replace('-', '_')}.py": _PAGE + (_LOADER if over == "loader" else _FUNCTION) + _RULE,
        CASES / f"{name}.md": _CASES,
    }
    for path in (*files, RULES / name.replace("-", "_")):
        if (root / path).exists():
            raise Refused(f"{path.as_posix()} already exists: choose another name, or delete it")
    words = {"code": code, "name": name, "needs": needs, "over": over}
    for path, text in files.items():
        word = severity.upper() if path.suffix == ".py" else severity
        (root / path).write_text(text.format(**words, severity=word), encoding="utf-8", newline="\n")
    module, cases = files
    return module, cases


def main() -> int:
    """Write the skeleton and print the next step. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Write the skeleton of a rule.")
    parser.add_argument("code", help="such as LDR110; the first digit is the family")
    parser.add_argument("name", help="such as frozen-shuffle-seed")
    parser.add_argument(
        "--needs", choices=("W2", "W1", "L", "M"), default="W1", help="which loaders can have the fault"
    )
    parser.add_argument("--severity", choices=("error", "warning", "information", "hint"), default="error")
    parser.add_argument(
        "--over", choices=("worker function", "loader"), default="worker function", help="what the rule looks at"
    )
    chosen = parser.parse_args()
    try:
        module, cases = write(ROOT, chosen.code, chosen.name, chosen.needs, chosen.severity, chosen.over)
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Written: {module.as_posix()}\n         {cases.as_posix()}")
    print(
        "Next: replace every THE FAULT in both files, first in the cases (CONTRIBUTING.md, step 2), then in the rule."
    )
    print(f"To test: python -m pytest tests/rules -k {chosen.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
