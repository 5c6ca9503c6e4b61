"""Which of the loaders cannot be made, or gone over."""


def measure(module):
    for make in module.LOADERS:
        try:
            list(make())
        except Exception as error:
            yield f"{type(error).__name__} ({make.__name__})"
