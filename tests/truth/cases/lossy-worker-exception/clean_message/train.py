from torch.utils.data import DataLoader, Dataset


class BadRecord(Exception):
    message = "bad"

    def __init__(self, message):
        super().__init__(message)


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        raise BadRecord("a.bin")


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2)
