"""What is stored on disk between runs, so that the next run need not compute it again.

* `cache_folder`: where the cache is, and what its contents depend on apart from the files.
* `database`: bytes by key in one SQLite file, bounded in size, shared between processes.
* `facts_cache`: the facts of the pieces of a file, by its content.
* `manifest`: whether everything that a check read is unchanged.
* `check_record`: the findings of a check, valid as long as its manifest is; `serialized_findings` turns findings into
  plain data and back.
* `linking_answers`: what linking read of the files, so that an edit that changes no answer needs no linking.

If anything fails (no such folder, a full disk, a damaged file, a lock held by another process), nothing is stored or
found, and only the debug log says so: the findings are the same with and without a cache."""
