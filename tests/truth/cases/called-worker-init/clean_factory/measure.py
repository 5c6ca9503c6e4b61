"""Whether a worker has not run the worker_init_fn."""


def measure(module):
    if not all(bool(batch.all()) for batch in module.make_loader()):
        yield "NotPrepared"
