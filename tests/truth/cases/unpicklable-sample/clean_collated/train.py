from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return open(__file__, "rb"), (n for n in range(index))


def collate(batch):
    return [(file.read(), sum(numbers)) for file, numbers in batch]


def make_loader():
    return DataLoader(Files(), batch_size=2, num_workers=2, collate_fn=collate)
