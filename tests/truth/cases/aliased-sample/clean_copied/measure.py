"""Whether a loop that edits its batches changes the dataset."""


def measure(module):
    loader = module.make_loader()
    before = loader.dataset.chunks.copy() if hasattr(loader.dataset.chunks, "copy") else loader.dataset.chunks.clone()
    for batch in loader:
        for part in batch if isinstance(batch, (list, tuple)) else [batch]:
            part *= 5
    return [] if (before == loader.dataset.chunks).all() else ["changed"]
