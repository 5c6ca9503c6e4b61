"""
# unsorted-listing (LDR503)

## What it does
Finds datasets whose order is that of an unsorted directory listing: `os.listdir`, `os.scandir`, `os.walk`, `glob.glob`,
`glob.iglob`, and `iterdir`, `glob` and `rglob` of paths. The dataset keeps the listing, or each sample makes it anew
(`os.listdir(self.root)[index]`).

## Why is this bad?
These functions return names in the order of the file system, which is neither alphabetical nor the order in which the
files were created. On ext4 it depends on hashes of the names. Measured with 12 images `0.img` to `11.img` and 12 masks
`0.msk` to `11.msk`: none of the 12 pairs by position was right.

- Two listings that are paired by position (images and masks) give samples the wrong label, without a warning. So does a
  listing that is paired with the rows of a file (`self.labels = np.load("labels.npy")`, `pd.read_csv("labels.csv")`),
  which have an order of their own.
- A split by position (`names[:800]`, `names[rank::world]`), or by a draw with a seed (`random.sample(names, 800)`,
  `train_test_split(names, random_state=0)`, `random_split(dataset, sizes)` after `torch.manual_seed(0)`), changes on
  another machine or after a copy. The training may then have seen the validation data. So does a split of each group,
  if a dict holds the files of each class (`groups[path.parent.name].append(path)`), and so do folds
  (`KFold(5, shuffle=True, random_state=0).split(names)`) and rows of a table that is made of the listing
  (`rows.sample(frac=1, random_state=0)`).
- A sample that stacks the files of a folder, such as the frames of a clip, or stores them in an array one after the
  other (`clip[turn] = read(name)`), gets them in any order. If it takes only the first of them, it gets others on
  another machine.
- If the position in a listing becomes the class label, a saved model has other classes on another machine.
- A set of names has another order in each run, even if the names were sorted before. The training may then have seen
  the validation data. A loop over a set of texts (`for ext in {".jpg", ".png"}`) around a listing is sorted with it.
- One listing as the order of the samples is a hint: results with the same seed differ between machines.

## When it is not a bug
- It is only the order of the samples, all loaders shuffle them, and no code sets torch's seed: each run has another
  order anyway.
- The listing is sorted before or after, with any key, or shuffled without a seed, once or by each sample. (A seed gives
  the same order only if the listing has the same order, and a part that was taken by position keeps its files.)
- A sample takes the mean or the sum of what it stacks, or the like.
- The names are only looked up, counted, or kept in a dict by name, or are in a set that is only asked.
- A set holds numbers, such as `{int(name[:4]) for name in names}`: its order is the same in each run.
- The slice cuts nothing: `names[: len(names)]`, `names[: int(len(names) * share)]` with a share of 1,
  `names[: limit or len(names)]` with a limit of None, or `names[: min(limit, len(names))]` with an infinite limit
  (`float("inf")`, `math.inf`). It is no split, so only the order of the samples remains, a hint. With another limit,
  samples differ only if there are more files than that, so this is a hint, too.
- All positions are drawn, `Subset(data, rng.permutation(len(data)))`: no split, so only the order remains, a hint.
- The folds keep groups together (`GroupKFold`, `GroupShuffleSplit`): they go by the names of the groups.
- Only a debugging run takes the slice, under `if self.debug:`, or one in which a user sets an option:
  `if args.limit > 0:`, where the option is 0 by default. Only the order of the samples remains, a hint.
- No program calls the function that lists the files, although others create the same loader: a hint.
- A path has backslashes or a drive, as in `C:/data`: only Windows finds the files, and its NTFS lists them by name. A
  hint. (The default of an option does not count: users may set another one.)
- The second path is built from the first one's name.
- Both list one folder, whose order is the same each time. Only the order of the samples remains, a hint.
- Both patterns name one file of each of the same folders: `glob(root + "/*/left.png")`, `glob(root + "/*/right.png")`.
  Only the order of the samples remains, a hint.
- The code compares the names of each pair and raises where they differ: `assert image.stem == mask.stem`. Only the
  order of the samples remains, a hint.
- A sample only prints the name at its position.
- A sample takes only one of the two: `self.train[i] if self.training else self.test[i]`.
- A number that is kept by position is no class if the sample looks up its name with it: `self.folders[number]`.
- A position only finds items in the listing or in a list of the same order: `files[names.index(name)]`.
- Each sequence wraps around at its own length (`i % self.size_a`, `i % self.size_b`): the data is not paired.
- The dataset takes the smaller or the larger of the two lengths (`__len__` returns `min(len(self.a), len(self.b))`),
  shuffles only one of the two, or draws the position in the second one: they are not paired. Only the order of the
  samples remains, a hint.

## Example
```python
class Pairs(Dataset):
    def __init__(self, images, masks):
        self.images = glob.glob(f"{images}/*.jpg")
        self.masks = glob.glob(f"{masks}/*.png")

    def __getitem__(self, index):
        return load(self.images[index]), load(self.masks[index])
```

## Fixed
```python
class Pairs(Dataset):
    def __init__(self, images, masks):
        self.images = sorted(glob.glob(f"{images}/*.jpg"))
        self.masks = sorted(glob.glob(f"{masks}/*.png"))

    def __getitem__(self, index):
        return load(self.images[index]), load(self.masks[index])
```

## Fix safety
Safe: the same names, sorted. It is unsafe where the listing numbers the classes, because a model that was trained
before the fix expects the numbers of the machine where it was trained: train it again, or write down the old order. It
is also unsafe where the files are matched with the rows of another file, which have to be in the order of the names.

Listings that are matched by position, those of one sequence, and those that one class, or the functions of one module,
number with `enumerate`, are sorted together; so are a listing and the one that a loop around it goes through, or that
the function keeps beside it, and other code of the project that lists the same folder and takes names from it by
position, or another dataset of the same file that lists it. If that dataset lists other folders too, the fix is unsafe.
Sorting only one would mispair files or numbers that happened to match, or leave the sequence without an
order.

The fix is unsafe, too, where the function sorts the names under a condition: otherwise it may mean to keep them as they
are. And where another file has a copy of a function that splits the files, which draws the same parts today. And where
a loader trains on the samples in the order of the listing, without `shuffle` and without a sampler: the file system's
order mixes the files, and sorted by name, one class often comes after another. Then pass `shuffle=True`. (Files that a
loop lists folder by folder are not mixed before.)

There is no fix for `os.walk`, whose folders and files both need sorting, for `with os.scandir(...)`, or for what is
matched with one of these.

## References
- [os.listdir](https://docs.python.org/3/library/os.html#os.listdir): 'The list is in arbitrary order'
- [glob](https://docs.python.org/3/library/glob.html): whether results are sorted 'depends on the file system'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, def_key
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.listing_order import LOOPED_SET, Listing, ListingOrder
from loaderlint.rules.shared.run_seeds import may_be_seeded
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import loaders_of
from loaderlint.rules.unsorted_listing.fixes import sorting_fixes
from loaderlint.rules.unsorted_listing.listing_uses import (
    NO_ORDER,
    ListingUse,
    gravest,
    numbered_by_sample,
    sampled_with_seed,
    uses_in_construction,
)
from loaderlint.rules.unsorted_listing.positional_items import Taken, taken_by_position
from loaderlint.rules.unsorted_listing.stacked_parts import stacked
from loaderlint.rules.unsorted_listing.training_order import TrainingOrder
from loaderlint.rules.unsorted_listing.windows_paths import is_of_windows

_SHUFFLED = "its loaders shuffle the samples, and nothing sets a seed: they have another order in each run anyway"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each listing whose order a map-style dataset's samples have."""
    for one in judged(RULE, _candidates(function, model), model, parts=("sample",), weigh=partial(_weigh, model)):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[ListingUse] | Silence]:
    """The listings whose order decides something in the samples of a dataset."""
    taken_in: dict[Frame, tuple[Taken, ...]] = {}
    for frame in function.frames:
        receiver = frame.receiver
        if model.def_of(frame).name not in ("__getitem__", "__getitems__") or not isinstance(receiver, Instance):
            continue
        if model.exposure(frame, 0, parts=("sample",)) is None or model.dataset_kind(receiver.cls) == "iterable":
            continue
        taken_in[frame] = tuple(taken_by_position(frame, receiver, ListingOrder(model), model))
    training = TrainingOrder(taken_in, model)
    for frame, taken in taken_in.items():
        receiver = frame.receiver
        assert isinstance(receiver, Instance)
        for spot in _sorted(taken):
            yield from silent(RULE.name, spot, "it is sorted before its order matters", model)
        in_construction = uses_in_construction(taken, frame, receiver, model)
        in_sample = (*sampled_with_seed(frame, model), *stacked(frame, model), *numbered_by_sample(frame, model))
        for use in gravest((*in_sample, *in_construction)):
            about = replace(use, trained=training.of(frame))
            yield Candidate(about, frame, _spot(use.listing), severity=use.severity)


def _spot(listing: Listing) -> Spot:
    return Spot(listing.frame, listing.expr)


def _weigh(model: Model, uses: Sequence[Candidate[ListingUse]], exposure: Exposure) -> Severity | Unsaid:
    """As grave as the use; a hint if no program runs what lists the files, although others make the same loader, or if
    only Windows finds them."""
    if uses[0].about.what == NO_ORDER and all(_shuffles_anew(loader, model) for loader in exposure.loaders):
        return Unsaid(_SHUFFLED)
    listing = uses[0].about.listing
    severity = lowered(uses[0].about.severity, exposure)
    is_rare = model.is_unused(*def_key(listing.frame)) or is_of_windows(listing, model)
    if is_rare and isinstance(severity, Severity):
        return Severity.HINT
    # the branch that creates this dataset is known: it is taken some time
    is_choice = bool(exposure.lead.guessed) and not exposure.lead.late
    return Severity.HINT if isinstance(severity, Unsaid) and is_choice else severity


def _shuffles_anew(loader: Loader, model: Model) -> bool:
    """Whether a loader gives the samples in an order that no seed decides."""
    literal = loader.argument("shuffle").literal
    is_shuffled = literal is not None and literal.value is True and not literal.configured
    is_plain = all(loader.argument(name).is_none for name in ("sampler", "batch_sampler", "generator"))
    return is_shuffled and is_plain and not may_be_seeded(model)


def _finding(verdict: WorkerVerdict[ListingUse], model: Model) -> Finding:
    use = verdict.about
    return verdict.finding(
        f"{use.what.format(loaders_of(verdict.exposure))} {_cause(use.listing)}; sort them",
        verdict.spot.place(model),
        use.listing.how,
        verdict.why(model),
        sorting_fixes(use, model),
    )


def _cause(listing: Listing) -> str:
    if listing.how in ("set", LOOPED_SET):
        return "a set has another order in each run"
    return f"`{listing.how}` lists files in the order of the file system, not sorted by name"


# --- what the order decides -------------------------------------------------------------------------------------------


def _sorted(taken: Iterable[Taken]) -> Iterable[Spot]:
    """The listings that samples are taken from by position, and that are sorted."""
    spots = (_spot(order.listing) for one in taken for order in one.orders if order.sorted)
    return {spot.key: spot for spot in spots}.values()


RULE = Rule(
    code="LDR503",
    name="unsorted-listing",
    severity=Severity.WARNING,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
    follows_data=True,
)
