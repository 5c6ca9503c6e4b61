"""Whether the numbers of the classes are those of their names in order."""


def measure(module):
    numbers = {name: label for names, labels in module.make_loader() for name, label in zip(names, labels.tolist())}
    return ["order"] if [numbers[name] for name in sorted(numbers)] != list(range(len(numbers))) else []
