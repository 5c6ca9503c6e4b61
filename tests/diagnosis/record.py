"""Runs the programs in `programs` on real PyTorch and keeps what they print.

    python -m tests.diagnosis.record [NAME ...]

Each program is run as `train.py` in a folder of its own. Only the folders of that machine are replaced in its output,
by those of `FOLDERS`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS, RECORDED = HERE / "programs", HERE / "recorded"
#: Where a program and the modules that it imports seem to be.
PROJECT, INSTALLED, STANDARD = "/home/user/project", "/opt/venv/lib/python3.11/site-packages", "/usr/lib/python3.11"


def printed(program: Path) -> str:
    """What a program prints, both streams together."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_bytes(program.read_bytes())
        command = [sys.executable, "-u", str(Path(folder, "train.py"))]
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, timeout=120, check=False
        )
        text = run.stdout.replace(folder, PROJECT)
    text = re.sub(
        r'(^|")/[^"\n]*/site-packages/', rf"\g<1>{INSTALLED}/", text, flags=re.MULTILINE
    )  # warnings have no quotes
    return re.sub(r'"(?!/opt/)[^"\n]*/lib/python3\.\d+/', f'"{STANDARD}/', text)


def main() -> None:
    """Record the programs that are named, or all."""
    RECORDED.mkdir(exist_ok=True)
    for program in sorted(PROGRAMS.glob("*.py")):
        if sys.argv[1:] and program.stem not in sys.argv[1:]:
            continue
        (RECORDED / f"{program.stem}.txt").write_text(printed(program), "utf-8")
        print(program.stem)


if __name__ == "__main__":
    main()
