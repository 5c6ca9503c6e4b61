from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {"file": open(__file__, "rb"), "index": index}


def make_loader():
    return DataLoader(Files(), batch_size=None, num_workers=2)
