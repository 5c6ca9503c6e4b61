from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return float(index)


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2, collate_fn=lambda batch: sum(batch))
