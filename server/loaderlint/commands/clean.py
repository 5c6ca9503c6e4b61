"""The command `clean`: deletes the cache and the results of audits, or shows where they are and how large."""

from __future__ import annotations

import argparse

from loaderlint.cache import audit_results, cache_folder, database
from loaderlint.report import terminal
from loaderlint.report.exit_codes import DONE, FAILED


def clean(chosen: argparse.Namespace) -> int:
    """Delete the cache, or show where it is (`--show`). Returns the exit code."""
    folder = cache_folder.folder(chosen.cache_dir)
    if folder is None:
        terminal.complain(f"there is no folder for a cache here; name one with --cache-dir or {cache_folder.VARIABLE}")
        return FAILED
    files = [*database.files(folder), *audit_results.files(folder)]
    size = _size(sum(file.stat().st_size for file in files))
    if chosen.show:
        print(f"{folder} ({size})" if files else f"{folder} (empty)")
        return DONE
    for file in files:
        try:
            file.unlink()
        except OSError as error:
            terminal.complain(f"{file}: cannot be deleted ({error.strerror}); stop the loaderlint that uses it")
            return FAILED
    print(f"Removed {size} from {folder}." if files else f"Nothing to remove in {folder}.")
    return DONE


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 100_000 else f"{count / 1000:.1f} kB"
