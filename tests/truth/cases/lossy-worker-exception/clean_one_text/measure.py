def measure(module):
    """The exception that the main process sees, if it is not the one that the worker raises."""
    try:
        list(module.make_loader())
    except Exception as error:
        name = type(error).__name__
        if name != "BadRecord":
            yield name
