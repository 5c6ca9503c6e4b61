"""What is kept on disk between two runs, so that the next one need not do it again.

* `place`: where it is kept, and what it depends on beside the files.
* `database`: bytes by key in one SQLite file, bounded in size, shared between processes.
* `pieces`: the facts of the pieces of a file, by its content.
* `manifest`: whether all that a check looked at still is as it was.
* `record`: what a check found, for as long as its manifest holds; `plain` has the findings as plain data.
* `answers`: what linking asked of the files, so that an edit that changes no answer links nothing.

Whatever goes wrong (no such folder, a full disk, a damaged file, another process that has it locked) means that nothing
is kept or found, said in the debug log only: with or without a cache, the findings are the same.
"""
