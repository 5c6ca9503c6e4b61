"""`python -m loaderlint`, and the console script `loaderlint`."""

from loaderlint.runtime.import_path import isolate


def entry() -> None:
    """Run the command line, and never return."""
    isolate()  # before any other import
    from loaderlint import cli

    cli.entry()


if __name__ == "__main__":
    entry()
