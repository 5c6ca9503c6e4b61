"""Whether an image comes with another's label."""


def measure(module):
    wrong = sum((images != labels).sum().item() for images, labels in module.make_loader())
    return ["mismatch"] if wrong else []
