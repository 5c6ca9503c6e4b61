"""Library functions and classes that call the functions they are given."""

from __future__ import annotations

from types import MappingProxyType

#: Calling an object made by one of these calls the callables that it was made from, in order (a pipeline) or some.
#: (Which classes of an augmentation library hold others, for the seeds of all: `Library.holders` in augmentations.py.)
PIPELINES = frozenset(
    [
        "torchvision.transforms.Compose",
        "torchvision.transforms.Lambda",
        "torchvision.transforms.RandomApply",
        "torchvision.transforms.RandomChoice",
        "torchvision.transforms.RandomOrder",
        "albumentations.Compose",
        "albumentations.ReplayCompose",
        "albumentations.OneOf",
        "albumentations.SomeOf",
        "albumentations.Sequential",
        "albumentations.Lambda",
        "monai.transforms.Compose",
        "monai.transforms.Lambda",
        "monai.transforms.Lambdad",
        "torch.nn.Sequential",
        "torch_geometric.transforms.Compose",
        "imgaug.augmenters.Sequential",
        "audiomentations.Compose",
        "kornia.augmentation.AugmentationSequential",
        "toolz.compose",
        "toolz.functoolz.compose",
    ]
)

#: The attribute in which torchvision, albumentations, MONAI, torch_geometric and audiomentations keep the steps.
STEPS = "transforms"

#: Those that run their steps one after another, each on the result of the one before, and give the last result.
ORDERED_PIPELINES = frozenset(
    {
        "torchvision.transforms.Compose",
        "torchvision.transforms.Lambda",
        "monai.transforms.Compose",
        "torch.nn.Sequential",
        "torch_geometric.transforms.Compose",
    }
)

#: Steps of pipelines that call one function, and give what it returns.
FUNCTION_STEPS = frozenset({"torchvision.transforms.Lambda"})

#: Steps of pipelines whose result shares no memory with what they are given. `ToTensor` converts images of bytes; the
#: tensor of a float array with one channel is a view of it, which is not told apart here. Source: torchvision's
#: `transforms/functional.py`; an image that shares memory with an array is copied before it is written to.
MAKES_NEW = frozenset({"torchvision.transforms.ToTensor", "torchvision.transforms.ToPILImage"})

#: Steps of pipelines that run one, or some, of the callables they are made from.
ALTERNATIVES = frozenset(
    {
        "torchvision.transforms.Lambda",
        "torchvision.transforms.RandomApply",
        "torchvision.transforms.RandomChoice",
        "torchvision.transforms.RandomOrder",
    }
)

#: Functions that call their callable arguments at once (or when their result is gone through).
HIGHER_ORDER = frozenset(
    [
        "builtins.map",
        "builtins.filter",
        "builtins.sorted",
        "builtins.min",
        "builtins.max",
        "functools.reduce",
        "numpy.apply_along_axis",
        "numpy.vectorize",
        "itertools.starmap",
    ]
)

#: Decorators that give a wrapper the name and module of the function that it wraps, so that pickle finds it.
NAMING_DECORATORS = frozenset({"functools.wraps"})

#: Decorators that leave what a function does and returns as it is.
TRANSPARENT_DECORATORS = frozenset(
    [
        "functools.lru_cache",
        "functools.cache",
        "functools.wraps",
        "torch.no_grad",
        "torch.inference_mode",
        "torch.enable_grad",
        "torch.jit.ignore",
        "torch.jit.unused",
        "torch.jit.export",
        "torch.jit.script",
        "abc.abstractmethod",
        "builtins.staticmethod",
        "builtins.classmethod",
        "typing.final",
        "typing.override",
        "typing_extensions.override",
        "numba.jit",
        "numba.njit",
        "contextlib.contextmanager",
        "beartype.beartype",
        "jaxtyping.jaxtyped",
    ]
)

#: Decorators that pass arguments from a configuration for parameters that the call leaves out, and leave what a
#: function does and returns as it is: a default counts like that of an option. Source: gin-config `config.py`
#: (`_make_gin_wrapper`), sacred `ingredient.py` and `config/captured_function.py`.
CONFIGURING_DECORATORS = frozenset(
    {
        "gin.configurable",
        "gin.config.configurable",
        *(
            f"sacred.{owner}.{name}"
            for owner in ("Ingredient", "Experiment", "ingredient.Ingredient", "experiment.Experiment")
            for name in ("capture", "command", "main", "automain")
        ),
    }
)

#: Decorators that make a method an attribute.
PROPERTY_DECORATORS = frozenset(
    ["builtins.property", "functools.cached_property", "abc.abstractproperty", "cached_property.cached_property"]
)

#: Decorators that keep what a function returns, and give the same object again.
KEEPING_DECORATORS = frozenset(
    ["functools.cached_property", "cached_property.cached_property", "functools.lru_cache", "functools.cache"]
)

#: Decorators that keep what a function has returned for each of its arguments.
MEMOIZING_DECORATORS = frozenset(["functools.lru_cache", "functools.cache"])

#: Decorators whose function has no body worth reading.
STUB_DECORATORS = frozenset(["typing.overload", "typing_extensions.overload"])

#: Class methods that make an object of the class from what is stored: Lightning's, and those of Hugging Face.
RESTORING_METHODS = frozenset({"load_from_checkpoint", "from_pretrained"})

#: Methods that a library's `__call__` calls on an object whose class derives from one of its own, by the beginning of
#: the base's name. Source: `BasicTransform.__call__` of albumentations, `Transform.forward` of
#: torchvision.transforms.v2, `BaseWaveformTransform.__call__` of audiomentations.
TEMPLATE_METHODS = MappingProxyType(
    {
        "albumentations.": (
            "get_params",
            "get_params_dependent_on_data",
            "get_params_dependent_on_targets",
            "apply",
            "apply_to_image",
            "apply_to_mask",
            "apply_to_masks",
            "apply_to_bbox",
            "apply_to_bboxes",
            "apply_to_keypoint",
            "apply_to_keypoints",
        ),
        "torchvision.transforms.": ("get_params", "make_params", "_get_params", "transform", "_transform"),
        "audiomentations.": ("randomize_parameters", "apply"),
    }
)

#: Functions that call the main function they are given.
RUNNERS = frozenset("absl.app.run fire.Fire typer.run tyro.cli jsonargparse.CLI jsonargparse.auto_cli".split())
