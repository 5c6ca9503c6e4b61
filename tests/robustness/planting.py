"""Modules in a project that nobody may import: each leaves a mark when it runs."""

from __future__ import annotations

from pathlib import Path

#: Modules of the standard library, of loaderlint's dependencies and extras, and names that Python looks for by itself.
MODULES = (
    "__future__ _sitebuiltins argparse asyncio bisect collections concurrent contextlib ctypes dataclasses enum"
    " functools gc hashlib heapq importlib inspect io json linecache logging multiprocessing pickle posixpath queue re"
    " runpy shutil signal sqlite3 ssl string struct subprocess tempfile textwrap threading tokenize traceback types"
    " typing unittest uuid warnings zlib"
    " altair attrs cattrs dask distributed jinja2 libcst lsprotocol msgspec packaging pathspec pebble platformdirs"
    " pygls rich tomli tomllib vl_convert websockets yaml"
    " sitecustomize usercustomize conftest __main__"
).split()
#: These are planted as packages, with what loaderlint looks for in them.
PACKAGES = {
    "loaderlint": ("__main__", "cli", "import_path", "lsp", "processes", "start_child"),
    "libcst": ("matchers",),
}

_SOURCE = "open({mark!r}, 'w').close()\nraise SystemExit('the project was run: {name}')\n"


def plant(folder: Path, marks: Path) -> None:
    """Put the modules into `folder`. Each that is imported leaves a file of its name in `marks`."""
    marks.mkdir(exist_ok=True)

    def write(path: Path, name: str) -> None:
        path.write_text(_SOURCE.format(mark=str(marks / name), name=name), "utf-8")

    for name in MODULES:
        if name not in PACKAGES:
            write(folder / f"{name}.py", name)
    for name, members in PACKAGES.items():
        (folder / name).mkdir()
        for member in ("__init__", *members):
            write(folder / name / f"{member}.py", f"{name}.{member}")
    (folder / "planted.pth").write_text(f"import sys; open({str(marks / 'pth')!r}, 'w').close()\n", "utf-8")


def left(marks: Path) -> list[str]:
    """The modules that were imported."""
    return sorted(path.name for path in marks.iterdir())
