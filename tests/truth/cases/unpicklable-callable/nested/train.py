from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return float(index)


def make_loader():
    loud = False

    # Rows of one batch in one list.
    def collate(batch):
        """A list."""
        return list(batch)  # not stacked

    def init(worker_id):
        global WORKER
        WORKER = worker_id

    if loud:
        print("loud")
    return DataLoader(Rows(), batch_size=2, num_workers=2, collate_fn=collate, worker_init_fn=init)
