"""What calls do outside their process. Some must not happen again when a worker runs the script once more: they ask the
user, remove or move files, or begin a file anew. Others are a nuisance: they print, or take long or much memory."""

from __future__ import annotations

ASKING = frozenset({"builtins.input", "getpass.getpass"})
REMOVING = frozenset(
    """
    os.remove os.unlink os.rmdir os.removedirs os.rename os.renames os.replace shutil.rmtree shutil.move
    """.split()
)
#: Methods of a path that do so.
REMOVING_METHODS = frozenset("unlink rmdir rename replace".split())
OPENING = "builtins.open"
#: The letters of a mode in which a file is begun anew, or must not exist.
ANEW = frozenset("wx")

#: The beginnings of calls that change nothing in their own process but what they return: a worker never needs them.
OUTSIDE = tuple(
    """
    builtins.print pprint.pprint logging.debug logging.info logging.warning mlflow. nltk.download os.makedirs os.mkdir
    os.remove os.system setproctitle. shutil. time.sleep torch.cuda.empty_cache torchinfo.summary torchsummary.summary
    wandb.
    """.split()
)

#: The beginnings of calls that everybody sees.
SHOWING = tuple(
    """
    builtins.print logging.info logging.warning mlflow. pprint.pprint torchinfo.summary torchsummary.summary wandb.
    """.split()
)
#: The beginnings of calls that read what may be large.
READING = tuple(
    """
    datasets.load_dataset datasets.load_from_disk h5py.File joblib.load nibabel.load numpy.genfromtxt numpy.load
    pandas.read_ pickle.load scipy.io.loadmat torch.load
    """.split()
)
#: The beginnings of calls that create a model.
MODELS = tuple(
    """
    monai.networks.nets. segmentation_models_pytorch. timm.create_model torch.hub.load torchvision.models.
    torch.nn.Sequential torch.nn.Transformer torch.nn.LSTM torch.nn.GRU
    """.split()
)
#: Methods of models: they create one, or move one to a GPU.
MODEL_METHODS = frozenset("cuda from_pretrained load_from_checkpoint load_state_dict".split())
