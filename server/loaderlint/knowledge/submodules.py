"""Names of libraries that are modules, and neither classes nor functions."""

from __future__ import annotations

#: Modules inside a package, which code stores like the package itself. Pickle takes no module.
SUBMODULES = frozenset(
    """
    PIL.Image PIL.ImageDraw PIL.ImageEnhance PIL.ImageFilter PIL.ImageFont PIL.ImageOps
    concurrent.futures importlib.util multiprocessing.pool os.path urllib.request xml.etree.ElementTree
    matplotlib.pyplot numpy.linalg numpy.random
    scipy.interpolate scipy.io scipy.io.wavfile scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.sparse
    scipy.spatial scipy.special scipy.stats
    skimage.color skimage.exposure skimage.filters skimage.io skimage.measure skimage.morphology skimage.transform
    sklearn.preprocessing sklearn.metrics sklearn.model_selection
    torch.cuda torch.distributed torch.fft torch.linalg torch.nn torch.nn.functional torch.nn.init torch.optim
    torch.utils.data torchaudio.functional torchaudio.transforms
    torchvision.datasets torchvision.io torchvision.models torchvision.transforms torchvision.transforms.functional
    torchvision.transforms.v2 torchvision.transforms.v2.functional torchvision.utils
    """.split()
)
