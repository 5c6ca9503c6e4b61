from torch.utils.data import DataLoader, Dataset


class BadRecord(Exception):
    def __init__(self, text, index=None):
        super().__init__("bad")


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        raise BadRecord("a", index)


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2)
