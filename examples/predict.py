"""Counts the pixels of nuclei in whole slides: python predict.py slide1.npy slide2.npy"""

import sys

import torch

from loaders import prediction_loader
from model import SmallNet


@torch.no_grad()
def main(slides):
    model = SmallNet()
    model.load_state_dict(torch.load("nuclei.pt"))
    model.eval()
    pixels = 0
    for tiles in prediction_loader(slides, batch_size=4, workers=2):
        pixels += (model(tiles) > 0).sum().item()
    print(f"{pixels} pixels in nuclei")


if __name__ == "__main__":
    main(sys.argv[1:])
