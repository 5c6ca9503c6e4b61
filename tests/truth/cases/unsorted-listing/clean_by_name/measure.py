"""Whether an image comes with another's mask."""


def measure(module):
    wrong = sum((images != masks).sum().item() for images, masks in module.make_loader())
    return ["mismatch"] if wrong else []
