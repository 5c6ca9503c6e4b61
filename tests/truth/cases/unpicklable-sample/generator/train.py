from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return (start for start in range(index))


def make_loader():
    return DataLoader(Windows(), batch_size=None, num_workers=2)
