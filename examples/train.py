"""Trains the network: python train.py --data nuclei.h5 --validation held_out.h5"""

import argparse

import torch

from loaders import finetuning_loader, training_loader, validation_loader
from model import SmallNet, weighted_loss


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="nuclei.h5")
    parser.add_argument("--validation", default="held_out.h5")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--crop", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def train_one_epoch(model, loader, optimizer):
    model.train()
    for batch in loader:
        optimizer.zero_grad()
        loss = weighted_loss(model(batch["image"]), batch["mask"], batch.get("weight"))
        loss.backward()
        optimizer.step()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    losses = [weighted_loss(model(batch["image"]), batch["mask"]).item() for batch in loader]
    return sum(losses) / max(1, len(losses))


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    model = SmallNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_loader = training_loader(args.data, args.batch_size, args.workers, args.crop)
    valid_loader = validation_loader(args.validation, args.batch_size)
    for epoch in range(args.epochs):
        train_one_epoch(model, train_loader, optimizer)
        print(f"epoch {epoch}: {validate(model, valid_loader):.4f}")
    train_one_epoch(model, finetuning_loader(args.data, args.batch_size, args.workers), optimizer)
    torch.save(model.state_dict(), "nuclei.pt")


if __name__ == "__main__":
    main()
