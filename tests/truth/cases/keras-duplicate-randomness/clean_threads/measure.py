import multiprocessing


def measure(module, method="fork", epochs=2):
    multiprocessing.set_start_method(method, force=True)
    module.train(epochs)
    seen = [number for epoch in module.SEEN for number in epoch]
    first = module.SEEN[0]
    if len(set(first)) < len(first):
        yield "duplicates"
    if set(first) & set(seen[len(first) :]):
        yield "repeats"
