"""Library calls that make an object of a class which a configuration names, and registries that look one up.

Sources: hydra `_internal/instantiate/_instantiate2.py`; mmengine `registry/registry.py` and `build_functions.py`;
fvcore `common/registry.py`."""

from __future__ import annotations

import re

_MAKERS = re.compile(
    r"(?:hydra\.utils|hydra\._internal\.\w+(?:\.\w+)?|hydra_zen)\.(?:instantiate|call)"
    r"|(?:mmengine|mmcv|mmdet|mmdet3d|mmseg|mmpretrain|mmcls|mmaction|mmpose|mmocr)\.[\w.]*\b(?:build|build_from_cfg)"
)
_LOOKUPS = re.compile(
    r"(?:fvcore|detectron2|iopath|mmengine|mmcv|catalyst)\.[\w.]*\bRegistry\.get|.*\b[A-Z_]+_REGISTRY\.get"
)

#: The last parts of the names of registries of transforms.
_TRANSFORMS = re.compile(r"(?:\w*_)?(?:TRANSFORMS|PIPELINES|AUGMENTATIONS|TRANSFORM_REGISTRY)")


def makes_configured(name: str) -> str:
    """What a library function that makes an object of a class named in a configuration is called; '' for others."""
    return name.rpartition(".")[2] if _MAKERS.fullmatch(name) else ""


def passes_arguments(name: str) -> bool:
    """Whether such a function takes the configuration first, and passes its other arguments to the object."""
    return makes_configured(name) in ("instantiate", "call")


def looks_up_class(name: str) -> bool:
    """Whether a library method gives the class that is registered under a name."""
    return _LOOKUPS.fullmatch(name) is not None


def registers_transforms(name: str) -> bool:
    """Whether a registry is one of transforms, by the last part of its name."""
    return _TRANSFORMS.fullmatch(name) is not None
