"""What runs where: in the workers of which loaders, and in the main process."""
