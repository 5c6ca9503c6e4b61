def read_records(first, last):
    for number in range(first, last):
        yield number
