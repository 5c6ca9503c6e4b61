"""loaderlint: finds the bugs that only exist because a PyTorch DataLoader runs your code in worker processes."""

#: The one place of the version; the package metadata is built from it.
__version__ = "0.1.0"
