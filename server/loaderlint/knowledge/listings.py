"""What lists folders, in the order in which the file system has the names, and what becomes of that order."""

from __future__ import annotations

#: Functions that list names in no order.
LISTINGS = frozenset("os.listdir os.scandir os.walk glob.glob glob.iglob".split())
#: Methods of paths that do.
LISTING_METHODS = frozenset("iterdir glob rglob".split())

#: Calls that give the items of their arguments in the same order.
KEEPS_ORDER = frozenset(
    """
    builtins.list builtins.tuple builtins.iter builtins.enumerate builtins.map builtins.filter builtins.zip
    numpy.array numpy.asarray numpy.concatenate numpy.hstack numpy.repeat numpy.tile
    itertools.chain itertools.chain.from_iterable
    tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.std.tqdm copy.copy copy.deepcopy builtins.reversed
    """.split()
)
#: Those that give the items of the lists in their first argument.
FLATTENS = frozenset("builtins.sum itertools.chain.from_iterable numpy.concatenate numpy.hstack pandas.concat".split())
#: Methods that give the items of their object, or its rows, in the same order.
KEEPS_ORDER_METHODS = frozenset(
    """
    copy tolist astype flatten
    reset_index to_list to_numpy iterrows itertuples dropna drop drop_duplicates fillna rename assign query set_index
    """.split()
)
#: Calls of pandas that make a table with the rows of their first argument.
TABLES = frozenset(
    f"pandas.{name}" for name in ("DataFrame", "Series", "DataFrame.from_dict", "DataFrame.from_records")
)
#: Calls that read rows, or lines, in the order in which a file holds them.
READS_ROWS = (
    "builtins.open",
    "csv.DictReader",
    "csv.reader",
    "h5py.File",
    "joblib.load",
    "json.load",
    "numpy.genfromtxt",
    "numpy.load",
    "numpy.loadtxt",
    "numpy.memmap",
    "pandas.read_csv",
    "pandas.read_excel",
    "pandas.read_feather",
    "pandas.read_hdf",
    "pandas.read_json",
    "pandas.read_parquet",
    "pandas.read_pickle",
    "pandas.read_table",
    "pickle.load",
    "scipy.io.loadmat",
    "torch.load",
)
#: Attributes of a table that have its rows.
ROWS = frozenset("iloc loc values at iat".split())
#: Methods and functions after which the order is another: no fault of the listing then.
SHUFFLES = frozenset("shuffle permutation sample choice".split())

#: Classes of scikit-learn whose `split` takes samples by their positions, unless they shuffle. Those that keep groups
#: together are not among them: they go by the sorted names of the groups, whatever the order of the samples.
FOLDS = frozenset(f"sklearn.model_selection.{name}" for name in ("KFold", "StratifiedKFold", "TimeSeriesSplit"))
#: Those that always draw the positions.
DRAWN_FOLDS = frozenset(
    f"sklearn.model_selection.{name}"
    for name in ("ShuffleSplit", "StratifiedShuffleSplit", "RepeatedKFold", "RepeatedStratifiedKFold")
)
