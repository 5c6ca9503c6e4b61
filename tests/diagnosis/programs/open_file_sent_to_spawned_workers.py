from torch.utils.data import DataLoader, Dataset


class Lines(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")  # cause: handle-across-workers

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.file.seek(index)
        return self.file.read(1)[0]


if __name__ == "__main__":
    loader = DataLoader(Lines(__file__), num_workers=2, multiprocessing_context="spawn")
    for batch in loader:
        print(batch)
