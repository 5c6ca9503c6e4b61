"""`python -m loaderlint` is the command `loaderlint`."""

from loaderlint.cli import entry

if __name__ == "__main__":
    entry()
