"""Work in parallel."""

from concurrent.futures import ProcessPoolExecutor


def totals(numbers):
    """The absolute numbers."""
    with ProcessPoolExecutor(2) as executor:
        return sum(executor.map(abs, numbers))
