from torch.utils.data import DataLoader, Dataset




class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        raise UnicodeDecodeError("utf-8", b"a", 0, 1, "bad")


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2)
