"""Run benchmarks and draw docs/performance.md.

python -m benchmarks                 all parts
python -m benchmarks PART [PART ...] only these; the other measurements stay as they are
python -m benchmarks --quick         a quick run of some minutes; it writes into the cache folder, not into docs
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import chart, kept, machine, page, parts
from benchmarks.measures import Options, note
from benchmarks.parts import PARTS

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Measure, print and write the results."""
    asked = _arguments().parse_args()
    cache = asked.cache.resolve()
    rounds = asked.rounds or (1 if asked.quick else 3)
    options = Options(cache, rounds, asked.quick, tuple(sorted(asked.sizes)), asked.seed)
    folder = cache / "quick" if asked.quick else ROOT / "docs"
    measured = kept.read(folder / "performance.json")
    for name in [] if asked.draw else asked.parts or PARTS:
        note(f"== {name}")
        part = _part(name, options)
        _print(part)
        before = kept.read(folder / "performance.json")  # another run may have added parts meanwhile
        measured = {one: found for one in PARTS if (found := part if one == name else before.get(one))}
        kept.write(folder / "performance.json", measured.values())
    (folder / "performance.md").write_text(page.render(measured), encoding="utf-8")
    (folder / "performance.svg").write_text(chart.render(measured), encoding="utf-8")
    note(f"written: {folder}/performance.md, .json, .svg")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Run benchmarks and draw docs/performance.md."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", choices=(*PARTS, []), help=f"of: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a quick run: few rounds, keystrokes and files")
    parser.add_argument("--draw", action="store_true", help="measure nothing, write the page again")
    parser.add_argument("--rounds", type=int, help="default: 3, or 1 with --quick")
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(size) for size in text.split(",")],
        default=[1000, 2000, 4000],
        metavar="N,N,...",
        help="numbers of files for the part growth (default: 1000,2000,4000)",
    )
    parser.add_argument("--cache", type=Path, default=ROOT / ".benchmarks", help="the folder for downloads")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def _part(name: str, options: Options) -> kept.Part:
    load = machine.load()
    measures = {one.name: one for one in parts.measured(name, options)}
    about = machine.described() | {"revision": machine.revision(), "rounds": _rounds(options.rounds), "load": load}
    return kept.Part(name, about, options.quick, measures)


def _rounds(number: int) -> str:
    return f"{number} rounds" if number > 1 else "1 round"


def _print(part: kept.Part) -> None:
    for one in part.measures.values():
        spread = f"  ({min(one.values):.4g} to {max(one.values):.4g})" if len(one.values) > 1 else ""
        print(f"{part.name:<12}{one.name:<60}{one.median:>12.4g} {one.unit}{spread}", flush=True)


if __name__ == "__main__":
    main()
