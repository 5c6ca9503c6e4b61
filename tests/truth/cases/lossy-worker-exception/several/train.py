from torch.utils.data import DataLoader, Dataset


class BadRecord(Exception):
    def __init__(self, path, index):
        super().__init__(f"{path}: record {index}")


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        raise BadRecord("a.bin", index)


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2)
