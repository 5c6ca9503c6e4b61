"""The other script. Both get the function from the module that they import the dataset of."""

from torch.utils.data import DataLoader

from images import Images


def main():
    for threads in DataLoader(Images(8), batch_size=2, num_workers=2):
        print(threads)


if __name__ == "__main__":
    main()
