import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Trainer:
    def __init__(self, processes):
        dataset = TensorDataset(torch.arange(64))
        sampler = DistributedSampler(dataset, num_replicas=processes, rank=0) if processes > 1 else None
        self.loader = DataLoader(dataset, batch_size=8, sampler=sampler, shuffle=sampler is None)
        self.seen = []

    def fit(self, epochs):
        for epoch in range(epochs):
            self.run_epoch()
        return self.seen

    def run_epoch(self):
        self.seen.append([])
        for (batch,) in self.loader:
            self.seen[-1].extend(batch.tolist())


def train(epochs, processes=2):
    return Trainer(processes).fit(epochs)
