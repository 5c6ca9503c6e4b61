"""Makes the pictures in docs/images out of what VS Code showed in the tests: python -m tests.editors.pictures"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from tests.editors.support import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots" / "vscode"
IMAGES = ROOT / "docs" / "images"
#: Left, top, right, bottom: the editor and the panel below it, with and without the Explorer open.
BESIDE_EXPLORER = (352, 36, 1276, 768)
WITHOUT_EXPLORER = (48, 36, 1276, 768)
#: The name of a picture; the test that shows it, what it calls it, and which part of it.
PICTURES = {
    "finding": ("a_finding_is_shown", "problems and the chain", BESIDE_EXPLORER),
    "hover": ("a_finding_is_shown", "hover", (352, 26, 1276, 506)),
    "fix": ("a_finding_is_shown", "menu", (352, 92, 1276, 506)),
    "lens": ("a_finding_is_shown", "lens", (352, 92, 1276, 506)),
    "loader": ("what_runs_where", "a loader", (352, 92, 1276, 506)),
    "workers": ("questions", "worker map", WITHOUT_EXPLORER),
    "workspace": ("files_that_are_not_open", "workspace", BESIDE_EXPLORER),
    "notebook": ("a_notebook", "a cell", BESIDE_EXPLORER),
}
LARGEST = 150_000


def make(name: str) -> Path:
    """Cut a picture out of a screenshot, with few colours."""
    test, shown, part = PICTURES[name]
    pattern = f"*-{shown.replace(' ', '-')}.png"
    found = sorted((SCREENSHOTS / test).glob(pattern))
    if not found:
        raise SystemExit(f"{SCREENSHOTS / test} has no {pattern}; run the tests of VS Code first: make pictures")
    picture = Image.open(found[0]).convert("RGB").crop(part)
    made = IMAGES / f"vscode-{name}.png"
    few = picture.quantize(colors=192, method=Image.Quantize.MEDIANCUT, kmeans=4, dither=Image.Dither.NONE)
    few.save(made, optimize=True)
    assert made.stat().st_size < LARGEST, f"{made.name} is {made.stat().st_size} bytes"
    return made


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    for name in PICTURES:
        made = make(name)
        print(f"{made.stat().st_size:8}  {made.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
