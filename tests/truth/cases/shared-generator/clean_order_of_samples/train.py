"""A generator for the loader's own order, which only the main process draws from."""

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, torch.rand(())


def make_loader():
    generator = torch.Generator()
    generator.manual_seed(0)
    dataset = Noise()
    sampler = RandomSampler(dataset, generator=generator)
    return DataLoader(dataset, batch_size=2, sampler=sampler, num_workers=4, generator=generator)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
