"""The names that star imports of libraries bind."""

from __future__ import annotations

from loaderlint.knowledge.numpy_random import NUMPY_GLOBAL_DRAWS


def star_names(module: str) -> frozenset[str]:
    """The names that a star import of a library binds, as far as the tables know them."""
    if module in ("numpy.random", "np.random"):
        return frozenset(name.rpartition(".")[2] for name in NUMPY_GLOBAL_DRAWS)
    if module in ("fastai.vision.all", "fastai.text.all", "fastai.tabular.all", "fastai.data.all", "fastai.basics"):
        return frozenset({"DataLoader", "DataLoaders", "TfmdDL", "set_seed"})
    if module == "torch.utils.data":
        return frozenset({"DataLoader", "Dataset", "IterableDataset", "Subset", "random_split", "ConcatDataset"})
    return frozenset()
