"""loaderlint: finds the bugs that only exist because a PyTorch DataLoader runs your code in worker processes."""

#: The one place of the version; the package metadata is built from it.
__version__ = "0.1.0"

#: The project's home page; the rules' pages are below it.
HOME = "https://loaderlint.dev"


def rule_url(name: str) -> str:
    """The web page of the rule `name`."""
    return f"{HOME}/rules/{name}"
