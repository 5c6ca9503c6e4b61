"""Classes of notebooks."""

from __future__ import annotations

from tests.truth.catalogue.base import Case, Run

NOTEBOOK = "notebook-class-in-worker"
KERNEL = ("nbclient", "ipykernel")

FAULTY: tuple[Case, ...] = (
    Case(
        NOTEBOOK,
        "samples",
        "measured",
        (Run("spawn, in a Jupyter kernel", {}, shows=frozenset({"RuntimeError"})),),
        fix=None,
        modules=KERNEL,
    ),
)
CLEAN: tuple[Case, ...] = (
    Case(NOTEBOOK, "clean_module", "measured", (Run("spawn, in a Jupyter kernel", {}),), modules=KERNEL),
)
