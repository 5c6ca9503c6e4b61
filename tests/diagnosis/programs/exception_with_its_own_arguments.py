from torch.utils.data import DataLoader, Dataset


class BadRecord(Exception):
    def __init__(self, path, line):
        super().__init__(f"{path}:{line}")
        self.path, self.line = path, line


class Records(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        raise BadRecord("records.csv", index)


if __name__ == "__main__":
    try:
        for batch in DataLoader(Records(), num_workers=2):
            print(batch)
    except BadRecord as error:
        print("skipped", error)
