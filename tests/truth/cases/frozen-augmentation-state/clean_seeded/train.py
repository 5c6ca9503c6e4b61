"""The worker_init_fn seeds the transform of the dataset."""

import albumentations as A
import numpy as np
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Images(Dataset):
    def __init__(self):
        self.transform = A.Compose([A.GaussNoise(p=1)])

    def __len__(self):
        return 16

    def __getitem__(self, index):
        image = np.zeros((2, 2, 1), np.float32)
        return index, float(self.transform(image=image)["image"].sum())


def init_worker(worker_id):
    info = get_worker_info()
    info.dataset.transform.set_random_seed(info.seed % 2**32)


def make_loader():
    return DataLoader(Images(), batch_size=2, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
