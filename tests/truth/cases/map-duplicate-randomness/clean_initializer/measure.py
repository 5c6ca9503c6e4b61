import multiprocessing


def measure(module, method="fork"):
    multiprocessing.set_start_method(method, force=True)
    drawn = module.produce()
    if len(set(drawn)) < len(drawn):
        yield "duplicates"
