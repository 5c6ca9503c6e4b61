import json

RECORDS = 256
HEADER = 20_000
PIXELS = 4_096


def write_records(path):
    """Each record is a header in JSON, filled up with blanks, and pixels."""
    with open(path, "wb") as file:
        for number in range(RECORDS):
            header = json.dumps({"outline": list(range(3_000))})
            file.write(header.ljust(HEADER).encode() + bytes([number]) * PIXELS)


def read_header(header):
    return json.loads(header)
