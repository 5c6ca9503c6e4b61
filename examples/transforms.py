"""Augmentation of images (height, width, 3) and masks (height, width)."""

import random

import cv2
import numpy as np
import torch


def crop_box(height, width, size):
    top = np.random.randint(0, height - size + 1)
    left = np.random.randint(0, width - size + 1)
    return top, left


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, sample):
        top, left = crop_box(*sample["mask"].shape, self.size)
        rows, columns = slice(top, top + self.size), slice(left, left + self.size)
        return {name: array[rows, columns] for name, array in sample.items()}


class RandomFlip:
    def __init__(self, probability=0.5):
        self.probability = probability

    def __call__(self, sample):
        if random.random() < self.probability:
            sample = {name: np.fliplr(array) for name, array in sample.items()}
        return sample


class AddNoise:
    """Gaussian noise of a strength that differs from image to image."""

    def __init__(self, strength=0.05, seed=0):
        self.strength = strength
        self.rng = np.random.default_rng(seed)

    def __call__(self, sample):
        scale = self.rng.uniform(0.0, self.strength)
        noise = self.rng.normal(scale=scale, size=sample["image"].shape)
        return {**sample, "image": sample["image"] + noise.astype(np.float32)}


class Blur:
    def __init__(self, kernels=(1, 3, 5)):
        self.kernels = kernels

    def __call__(self, sample):
        kernel = random.choice(self.kernels)
        return {**sample, "image": cv2.GaussianBlur(sample["image"], (kernel, kernel), 0)}


class Scale:
    """Brings images to mean 0 and deviation 1."""

    def __call__(self, sample):
        image = sample["image"].astype(np.float32)
        image -= image.mean()
        image /= image.std() + 1e-6
        return {**sample, "image": image}


class ToTensor:
    def __call__(self, sample):
        tensors = {name: torch.from_numpy(array.copy()) for name, array in sample.items()}
        tensors["image"] = tensors["image"].permute(2, 0, 1)
        return tensors


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, sample):
        for transform in self.transforms:
            sample = transform(sample)
        return sample
