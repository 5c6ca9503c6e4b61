"""Small programs for common libraries: their loader, its dataset and the transform are recognised."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from tests.engine.test_installed_libraries import JITTER, write

_TRANSFORM = JITTER + "from torch.utils.data import DataLoader, Dataset\n"
#: A dataset that calls its transform argument.
_DATASET = """
class Items(Dataset):
    def __init__(self, transform):
        self.transform = transform
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return self.transform(index)
"""
#: By library: the program, and the dataset that the worker map shows.
PROGRAMS = {
    "albumentations": (
        """
import albumentations as A
class Shaken(A.ImageOnlyTransform):
    def __init__(self, jitter):
        super().__init__()
        self.jitter = jitter
    def apply(self, img, **params):
        return self.jitter(img)
loader = DataLoader(Items(A.Compose([Shaken(Jitter())])), num_workers=4)
""",
        "Items",
    ),
    "lightning": (
        """
from lightning.pytorch import LightningDataModule
class Data(LightningDataModule):
    def __init__(self, num_workers: int = 4):
        super().__init__()
        self.save_hyperparameters()
    def setup(self, stage=None):
        self.train = Items(Jitter())
    def train_dataloader(self):
        return DataLoader(self.train, num_workers=self.hparams.num_workers)
""",
        "Items",
    ),
    "lightning-from-datasets": (
        """
from lightning.pytorch import LightningDataModule
data = LightningDataModule.from_datasets(Items(Jitter()), num_workers=4)
""",
        "Items",
    ),
    "monai": (
        """
from monai.data import CacheDataset, DataLoader
loader = DataLoader(CacheDataset([1, 2], transform=Jitter()), num_workers=4)
""",
        "CacheDataset",
    ),
    "monai-smart-cache": (
        """
from monai.data import SmartCacheDataset, ThreadDataLoader
loader = ThreadDataLoader(SmartCacheDataset([1, 2], transform=[Jitter()], replace_rate=0.5), num_workers=4)
""",
        "SmartCacheDataset",
    ),
    "monai-mixin": (
        """
from monai.transforms import Randomizable
class Cropped(Randomizable, Items):
    def __init__(self, transform):
        super().__init__(transform)
        self.set_random_state(seed=0)
loader = DataLoader(Cropped(transform=Jitter()), num_workers=4)  # Items(
""",
        "Cropped",
    ),
    "timm": (
        """
from timm.data import ImageDataset
from timm.data.loader import MultiEpochsDataLoader
loader = MultiEpochsDataLoader(ImageDataset("images", transform=Jitter()), batch_size=8, num_workers=4)
""",
        "ImageDataset",
    ),
    "torchio": (
        """
import torchio as tio
loader = DataLoader(tio.SubjectsDataset([], transform=Jitter()), batch_size=2, num_workers=4)
""",
        "SubjectsDataset",
    ),
    "torchio-queue": (
        """
import torchio as tio
subjects = tio.SubjectsDataset([], transform=tio.Compose([Jitter()]))
queue = tio.Queue(subjects, 100, 10, tio.UniformSampler(8), num_workers=4)
""",
        "SubjectsDataset",
    ),
    "webdataset": (
        """
import webdataset as wds
loader = wds.WebLoader(wds.WebDataset("{0..9}.tar").decode().map(Jitter()), batch_size=None, num_workers=4)
""",
        "webdataset.WebDataset.decode.map(...)",
    ),
    "torch-geometric": (
        """
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader
loader = DataLoader(TUDataset("data", "MUTAG", transform=Jitter()), batch_size=4, num_workers=4)
""",
        "torch_geometric.datasets.TUDataset(...)",
    ),
    "mmengine": (
        """
from mmengine.dataset import BaseDataset
class Boxes(BaseDataset):
    def load_data_list(self):
        return []
loader = DataLoader(Boxes(pipeline=[Jitter()]), num_workers=4)
""",
        "Boxes",
    ),
    "torchgeo": (
        """
from torchgeo.datasets import EuroSAT
loader = DataLoader(EuroSAT("data", transforms=Jitter()), num_workers=4)
""",
        "EuroSAT",
    ),
    "datasets": (
        """
from datasets import load_dataset
loader = DataLoader(load_dataset("images", split="train").with_transform(Jitter()), num_workers=4)
""",
        "datasets.load_dataset.with_transform(...)",
    ),
    "fastai": (
        """
from fastai.vision.all import DataLoaders
loaders = DataLoaders.from_dsets(Items(Jitter()), bs=4, num_workers=4)
""",
        "Items",
    ),
    "pytorchvideo": (
        """
from pytorchvideo.data import Kinetics, make_clip_sampler
videos = Kinetics("data", clip_sampler=make_clip_sampler("random", 2), transform=Jitter())
loader = DataLoader(videos, num_workers=4)
""",
        "LabeledVideoDataset",
    ),
    "open3d": (
        """
import open3d.ml.torch as ml3d
clouds = ml3d.datasets.SemanticKITTI("data").get_split("train")
loader = DataLoader(ml3d.dataloaders.TorchDataloader(dataset=clouds, transform=Jitter()), num_workers=4)
""",
        "TorchDataloader",
    ),
    "speechbrain": (
        """
import speechbrain as sb
speech = sb.dataio.dataset.DynamicItemDataset.from_csv("train.csv")
sb.dataio.dataset.add_dynamic_item([speech], Jitter(), takes="wav", provides="signal")
loader = sb.dataio.dataloader.SaveableDataLoader(speech, num_workers=4)
""",
        "speechbrain.dataio.dataset.DynamicItemDataset.from_csv(...)",
    ),
    "speechbrain-brain": (
        """
import speechbrain as sb
class Recogniser(sb.Brain):
    pass
def main():
    brain = Recogniser()
    brain.fit(range(9), Items(Jitter()), train_loader_kwargs={"num_workers": 4})
""",
        "Items",
    ),
    "fairseq": (
        """
from fairseq.data import iterators
epochs = iterators.EpochBatchIterator(Items(Jitter()), list, [[0, 1]], num_workers=4)
""",
        "Items",
    ),
    "fairseq-task": (
        """
from fairseq.tasks import FairseqTask
class Task(FairseqTask):
    def load_dataset(self, split, combine=False, **kwargs):
        self.datasets[split] = Items(Jitter())
def main():
    task = Task(None)
    task.load_dataset("train")
    epochs = task.get_batch_iterator(task.dataset("train"), num_workers=4)
""",
        "Items",
    ),
    "pyannote-audio": (
        """
from pyannote.audio.tasks import SpeakerDiarization
class Voices(SpeakerDiarization):
    def __init__(self, protocol, jitter):
        super().__init__(protocol, num_workers=4)
        self.jitter = jitter
    def prepare_chunk(self, file_id, start_time, duration):
        return self.jitter(file_id)
def main(protocol):
    return Voices(protocol, Jitter()).train_dataloader()
""",
        "TrainDataset",
    ),
    "medmnist-set-later": (
        """
from medmnist import PathMNIST
def images():
    return PathMNIST("train")
data = images()
data.transform = Jitter()
loader = DataLoader(data, num_workers=4)
""",
        "PathMNIST",
    ),
    "torchio-set-later": (
        """
import torchio as tio
def subjects():
    return tio.SubjectsDataset([])
class Data:
    def __init__(self):
        self.train = subjects()
        self.train.set_transform(tio.Compose([Jitter()]))
    def train_dataloader(self):
        return tio.SubjectsLoader(self.train, num_workers=4)
""",
        "SubjectsDataset",
    ),
    "torchvision-given-set-later": (
        """
from torchvision.datasets import CIFAR10
def images():
    return CIFAR10("data"), 10
def main():
    data, classes = images()
    data.transform = Jitter()
    return DataLoader(data, num_workers=4)
""",
        "torchvision.datasets.CIFAR10(...)",
    ),
    "torchvision-set-later": (
        """
from torchvision.datasets import CIFAR10
data = CIFAR10("data")
data.transform = Jitter()
loader = DataLoader(data, num_workers=4)
""",
        "torchvision.datasets.CIFAR10(...)",
    ),
    "pytorch3d": (
        """
from pytorch3d.datasets.shapenet_base import ShapeNetBase
class Shapes(ShapeNetBase):
    def __init__(self, jitter):
        super().__init__()
        self.jitter = jitter
    def __getitem__(self, index):
        return self.jitter(self._get_item_ids(index))
loader = DataLoader(Shapes(Jitter()), num_workers=4)
""",
        "Shapes",
    ),
    "lhotse": (
        """
from lhotse.dataset import IterableDatasetWrapper
loader = DataLoader(IterableDatasetWrapper(Items(Jitter()), []), batch_size=None, num_workers=4)
""",
        "IterableDatasetWrapper",
    ),
    "skorch": (
        """
from skorch.dataset import Dataset as Table
class Rows(Table):
    def __init__(self, X, jitter):
        super().__init__(X)
        self.jitter = jitter
    def transform(self, X, y):
        return self.jitter(X), y
loader = DataLoader(Rows([1, 2], Jitter()), num_workers=4)
""",
        "Rows",
    ),
    "schnetpack": (
        """
from schnetpack.data import AtomsLoader
loader = AtomsLoader(Items(Jitter()), batch_size=2, num_workers=4)
""",
        "Items",
    ),
    "batchgeneratorsv2": (
        """
from batchgeneratorsv2.transforms.base.basic_transform import ImageOnlyTransform
from batchgeneratorsv2.transforms.utils.compose import ComposeTransforms
class Shaken(ImageOnlyTransform):
    def __init__(self, jitter):
        super().__init__()
        self.jitter = jitter
    def _apply_to_image(self, img, **params):
        return self.jitter(img)
class Volumes(Dataset):
    def __init__(self, transform):
        self.transform = transform
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return self.transform(image=index)
loader = DataLoader(Volumes(ComposeTransforms([Shaken(Jitter())])), num_workers=4)
""",
        "Volumes",
    ),
    "torch-audiomentations": (
        """
from torch_audiomentations.core.transforms_interface import BaseWaveformTransform
class Shaken(BaseWaveformTransform):
    def __init__(self, jitter):
        super().__init__()
        self.jitter = jitter
    def apply_transform(self, samples=None, sample_rate=None, targets=None, target_rate=None):
        return self.jitter(samples)
loader = DataLoader(Items(Shaken(Jitter())), num_workers=4)
""",
        "Items",
    ),
    "augly": (
        """
import augly.image as imaugs
loader = DataLoader(Items(imaugs.Compose([imaugs.ApplyLambda(aug_function=Jitter())])), num_workers=4)
""",
        "Items",
    ),
    "detectron2": (
        """
from detectron2.data import build_detection_train_loader
loader = build_detection_train_loader(Items(len), mapper=Jitter(), num_workers=4, total_batch_size=2)
""",
        "Items",
    ),
    "kornia": (
        """
from kornia.augmentation import IntensityAugmentationBase2D
class Shaken(IntensityAugmentationBase2D):
    def __init__(self, jitter):
        super().__init__()
        self.jitter = jitter
    def apply_transform(self, input, params, flags, transform=None):
        return self.jitter(input)
loader = DataLoader(Items(Shaken(Jitter())), num_workers=4)
""",
        "Items",
    ),
    "mmcv": (
        """
from mmcv.transforms import BaseTransform, Compose
class Shaken(BaseTransform):
    def __init__(self, jitter):
        self.jitter = jitter
    def transform(self, results):
        return self.jitter(results)
loader = DataLoader(Items(Compose([Shaken(Jitter())])), num_workers=4)
""",
        "Items",
    ),
    "mmdet": (
        """
from mmdet.datasets import BaseDetDataset
class Boxes(BaseDetDataset):
    def load_data_list(self):
        return []
loader = DataLoader(Boxes("boxes.json", pipeline=[Jitter()]), num_workers=4)
""",
        "Boxes",
    ),
    "mmpretrain": (
        """
from mmpretrain.datasets import CustomDataset
loader = DataLoader(CustomDataset("images", pipeline=[Jitter()]), num_workers=4)
""",
        "CustomDataset",
    ),
    "mmaction2": (
        """
from mmaction.datasets import VideoDataset
loader = DataLoader(VideoDataset("videos.txt", pipeline=[Jitter()]), num_workers=4)
""",
        "VideoDataset",
    ),
    "mmocr": (
        """
from mmocr.datasets import OCRDataset
loader = DataLoader(OCRDataset("words.json", pipeline=[Jitter()]), num_workers=4)
""",
        "OCRDataset",
    ),
    "espnet": (
        """
from espnet2.train.dataset import ESPnetDataset
loader = DataLoader(ESPnetDataset([("wav.scp", "speech", "sound")], preprocess=Jitter()), num_workers=4)
""",
        "ESPnetDataset",
    ),
    "segmentation-models-pytorch": (
        """
import segmentation_models_pytorch as smp
loader = DataLoader(smp.datasets.OxfordPetDataset("pets", transform=Jitter()), num_workers=4)
""",
        "OxfordPetDataset",
    ),
    "pytorch-ignite": (
        """
import ignite.distributed as idist
loader = idist.auto_dataloader(Items(Jitter()), batch_size=4, num_workers=4)
""",
        "Items",
    ),
    "lightly": (
        """
from lightly.transforms.multi_view_transform import MultiViewTransform
loader = DataLoader(Items(MultiViewTransform([Jitter(), Jitter()])), num_workers=4)
""",
        "Items",
    ),
    "medmnist": (
        """
from medmnist import PathMNIST
loader = DataLoader(PathMNIST("train", transform=Jitter()), num_workers=4)
""",
        "PathMNIST",
    ),
    "torchxrayvision": (
        """
import torchxrayvision as xrv
loader = DataLoader(xrv.datasets.NIH_Dataset("images", transform=Jitter()), num_workers=4)
""",
        "NIH_Dataset",
    ),
    "open-clip": (
        """
from open_clip_train.data import CsvDataset
loader = DataLoader(CsvDataset("pairs.csv", Jitter(), "image", "caption"), num_workers=4)
""",
        "CsvDataset",
    ),
    "litdata": (
        """
from litdata import StreamingDataLoader, StreamingDataset
loader = StreamingDataLoader(StreamingDataset("items", transform=Jitter()), num_workers=4)
""",
        "litdata.StreamingDataset(...)",
    ),
    "transformers": (
        """
from transformers import Trainer, TrainingArguments
settings = TrainingArguments("out", dataloader_num_workers=4)
trainer = Trainer(None, settings, train_dataset=Items(Jitter()))
""",
        "Items",
    ),
    "torchdata": (
        """
from torchdata.stateful_dataloader import StatefulDataLoader
loader = StatefulDataLoader(Items(Jitter()), num_workers=4)
""",
        "Items",
    ),
}

#: Classes of the project that derive from a library's class, each in a separate file (its name and text), the program
#: that uses it, and the dataset that the worker map shows.
HEIRS = {
    "a dataset": (
        "from mmengine.dataset import BaseDataset\nclass Own(BaseDataset):\n    def load_data_list(self): return []\n",
        "from own import Own\nloader = DataLoader(Own(pipeline=[Jitter()]), num_workers=4)\n",
        "Own",
    ),
    "a loader": (
        "from torchio import SubjectsLoader\nclass Own(SubjectsLoader):\n    pass\n",
        "from own import Own\nloader = Own(Items(Jitter()), num_workers=4)\n",
        "Items",
    ),
    "a loader under another name": (
        "from torchio import SubjectsLoader\nclass Own(SubjectsLoader):\n    pass\n",
        "from own import Own as Feed\nloader = Feed(Items(Jitter()), num_workers=4)\n",
        "Items",
    ),
    "what makes loaders": (
        "import speechbrain as sb\nclass Own(sb.Brain):\n    pass\n",
        "from own import Own\ndef main():\n    brain = Own()\n"
        '    brain.fit(range(9), Items(Jitter()), train_loader_kwargs={"num_workers": 4})\n',
        "Items",
    ),
    "a class that derives from another": (
        "from base import Base\nclass Own(Base):\n    pass\n",
        "from own import Own\nloader = Own(Items(Jitter()), num_workers=4)\n",
        "Items",
    ),
}
_BASE = "from torchio import SubjectsLoader\nclass Base(SubjectsLoader):\n    pass\n"

#: A base class of MONAI with a constructor is in between: what that does with its arguments is not read.
_BASE_WITH_CONSTRUCTOR = """
from monai.transforms import MapTransform
class Cropped(MapTransform, Items):
    def __init__(self, transform):
        super().__init__(transform)
loader = DataLoader(Cropped(transform=Jitter()), num_workers=4)  # Items(
"""


def source(program: str) -> str:
    """A module with the program, the transform, and the dataset if it is used."""
    return _TRANSFORM + (_DATASET if "Items(" in program else "") + program


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_loader_the_dataset_and_the_transform_are_known(tmp_path: Path, name: str) -> None:
    program, dataset = PROGRAMS[name]
    root = write(tmp_path.resolve(), {"train.py": source(program)})
    (loader,) = Workspace([root]).worker_map().loaders
    assert [one.name for one in loader.datasets] == [dataset]
    assert "Jitter.__call__" in [one.name for one in loader.functions]


def test_a_constructor_in_between_keeps_the_transform_to_itself(tmp_path: Path) -> None:
    root = write(tmp_path.resolve(), {"train.py": source(_BASE_WITH_CONSTRUCTOR)})
    (loader,) = Workspace([root]).worker_map().loaders
    assert "Jitter.__call__" not in [one.name for one in loader.functions]


@pytest.mark.parametrize("name", HEIRS)
def test_a_class_of_another_file_that_derives_from_a_library(tmp_path: Path, name: str) -> None:
    own, program, dataset = HEIRS[name]
    root = write(tmp_path.resolve(), {"base.py": _BASE, "own.py": own, "train.py": source(program)})
    (loader,) = Workspace([root]).worker_map().loaders
    assert [one.name for one in loader.datasets] == [dataset]
    assert "Jitter.__call__" in [one.name for one in loader.functions]


@pytest.mark.parametrize(
    "own", ["class Own:\n    pass\n", "from torchio import Subject\nclass Own(Subject):\n    pass\n"]
)
def test_a_class_of_another_file_that_makes_no_loader(tmp_path: Path, own: str) -> None:
    program = "from own import Own\nkept = Own(Items(Jitter()), num_workers=4)\n"
    root = write(tmp_path.resolve(), {"own.py": own, "train.py": source(program)})
    assert not Workspace([root]).worker_map().loaders


def test_what_is_set_on_one_result_is_not_set_on_another(tmp_path: Path) -> None:
    program = """
from medmnist import PathMNIST
def images():
    return PathMNIST("train")
def main():
    train, valid = images(), images()
    train.transform = Jitter()
    return DataLoader(train, num_workers=4), DataLoader(valid, num_workers=2)
"""
    root = write(tmp_path.resolve(), {"train.py": source(program)})
    train, valid = Workspace([root]).worker_map().loaders
    assert "Jitter.__call__" in [one.name for one in train.functions]
    assert "Jitter.__call__" not in [one.name for one in valid.functions]


#: Programs with timm's `create_dataset`: its loader, and whether the transform is called.
CREATED = {
    "in torch's loader": ("loader = DataLoader(data, num_workers=4)", True),
    "in torch's loader, set later": ("data.transform = Jitter()\nloader = DataLoader(data, num_workers=4)", True),
    "in timm's loader": ("loader = create_loader(data, 224, 8, num_workers=4)", False),
}


@pytest.mark.parametrize("name", CREATED)
def test_a_dataset_that_timm_creates_by_a_name(tmp_path: Path, name: str) -> None:
    rest, is_called = CREATED[name]
    passed = "" if "set later" in name else ", transform=Jitter()"
    program = f"""
from timm.data import create_dataset, create_loader
data = create_dataset(open("name").read(), root="data"{passed})
{rest}
"""
    root = write(tmp_path.resolve(), {"train.py": source(program)})
    (loader,) = Workspace([root]).worker_map().loaders
    assert {"ImageDataset", "IterableImageDataset", "torchvision.datasets.ImageFolder(...)"} <= {
        one.name for one in loader.datasets
    }
    assert ("Jitter.__call__" in [one.name for one in loader.functions]) == is_called


@pytest.mark.parametrize(
    ("fit", "workers"),
    [
        ("fit(x, y, num_workers=4)", "num_workers=4"),
        ("fit(X_train=x, y_train=y, eval_set=[(x, y)], num_workers=4)", "num_workers=4"),
        ("fit(x, y)", "num_workers=0"),
    ],
)
def test_the_workers_of_tabnet_are_those_of_its_fit(tmp_path: Path, fit: str, workers: str) -> None:
    program = f"""
from pytorch_tabnet.tab_model import TabNetClassifier
def main(x, y):
    model = TabNetClassifier()
    model.{fit}
"""
    root = write(tmp_path.resolve(), {"train.py": source(program)})
    found = {
        each.name: one.workers.partition(",")[0]
        for one in Workspace([root]).worker_map().loaders
        for each in one.datasets
    }
    assert (found["TorchDataset"], found["PredictDataset"]) == (workers, "num_workers=0")


def test_one_project_with_all_of_them(tmp_path: Path) -> None:
    programs = dict(enumerate(PROGRAMS.values()))
    files = {f"train{number}.py": source(program) for number, (program, _) in programs.items()}
    root = write(tmp_path.resolve(), files)
    loaders = Workspace([root]).worker_map().loaders
    seen = {one.place.path.name: [each.name for each in one.datasets] for one in loaders if one.place}
    assert seen == {f"train{number}.py": [dataset] for number, (_, dataset) in programs.items()}


#: Programs in which a method makes the loader, on an object that another statement or method creates.
CALLED_LATER = {
    "at module level": (
        "clf = TabNetClassifier()\nprint(clf)\nclf.fit(x, y, num_workers=4)\n",
        "num_workers=4",
    ),
    "where an object holds it": (
        "class Job:\n    def __init__(self):\n        self.clf = TabNetClassifier()\n"
        "    def run(self):\n        self.clf.fit(x, y, num_workers=4)\n",
        "num_workers=4",
    ),
    "by a method of the project's own class": (
        "class Own(TabNetClassifier):\n    pass\nclf = Own()\nprint(clf)\nclf.fit(x, y, num_workers=4)\n",
        "num_workers=4",
    ),
}


@pytest.mark.parametrize("name", CALLED_LATER)
def test_a_method_of_an_object_that_is_made_elsewhere(tmp_path: Path, name: str) -> None:
    program, workers = CALLED_LATER[name]
    text = f"from pytorch_tabnet.tab_model import TabNetClassifier\nfrom table import x, y\n{program}"
    root = write(tmp_path.resolve(), {"train.py": text})
    found = [one.workers for one in Workspace([root]).worker_map().loaders if one.starts_workers == "yes"]
    assert set(found) == {workers}


@pytest.mark.parametrize(
    "program",
    [
        "clf = Other()\nclf.fit(x, y, num_workers=4)\n",
        "clf = TabNetClassifier()\nclf.other(x, y, num_workers=4)\n",
        "clf = TabNetClassifier()\nother.fit(x, y, num_workers=4)\n",
        "class Own(TabNetClassifier):\n    def fit(self, x):\n        pass\nclf = Own()\nclf.fit(num_workers=4)\n",
    ],
)
def test_a_method_of_another_object_makes_no_loader(tmp_path: Path, program: str) -> None:
    head = "from pytorch_tabnet.tab_model import TabNetClassifier\nfrom table import Other, other, x, y\n"
    root = write(tmp_path.resolve(), {"train.py": head + program})
    assert not Workspace([root]).worker_map().loaders
