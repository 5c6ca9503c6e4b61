from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return float(index)


def collate(batch):
    return {"rows": batch, "later": lambda: sum(batch)}


def make_loader():
    return DataLoader(Numbers(), batch_size=2, num_workers=2, collate_fn=collate)
