"""Iterators: what gives its items once, and what never ends."""

from __future__ import annotations

#: Calls that give an iterator: it can be gone through once.
ITERATORS = frozenset(
    """
    builtins.iter builtins.zip builtins.map builtins.filter builtins.enumerate builtins.reversed csv.reader
    csv.DictReader glob.iglob os.scandir os.walk re.finditer itertools.chain itertools.chain.from_iterable
    itertools.islice itertools.product itertools.starmap itertools.zip_longest itertools.combinations
    itertools.permutations itertools.accumulate itertools.takewhile itertools.dropwhile itertools.filterfalse
    itertools.compress itertools.groupby itertools.batched itertools.pairwise more_itertools.chunked
    """.split()
)

#: Iterators over files that were found: there may be none.
FOUND_FILES = frozenset("glob.iglob os.scandir os.walk".split())
#: Methods of paths that give one.
FOUND_FILES_METHODS = frozenset("glob rglob iterdir walk".split())
PATHS = frozenset("pathlib.Path pathlib.PosixPath pathlib.PurePath".split())

#: Iterators that never end, whatever they are made from.
ENDLESS = frozenset("itertools.cycle itertools.count itertools.repeat".split())

#: What ends for sure when it is gone through.
FINITE = (
    "builtins.list builtins.tuple builtins.set builtins.dict builtins.str builtins.range builtins.open list. dict. "
    "torch.utils.data.DataLoader torch.utils.data.Subset os.listdir glob.glob numpy. pandas. csv. json. h5py."
).split()
