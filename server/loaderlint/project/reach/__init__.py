"""What runs where: in the main process, and in the workers of which loaders."""
