"""The loop is in a function that the script calls; the fork server starts the workers. What goes under the guard holds
functions, long strings and names that other functions read."""

import torch
from data import build


def train(loader):
    return sum(int(batch.sum()) for batch in loader)


def main():
    torch.manual_seed(0)
    return train(build(1))


total = main()

TEXT = """one
  two
"""


def show():
    """Read the globals.

    Here."""
    return TEXT, f"""{total}
  in all"""


assert show() == ("one\n  two\n", "6\n  in all")
assert show.__doc__.removeprefix("Read the globals.").strip("\n ") == "Here."
assert show.__doc__.count("\n") == 2
