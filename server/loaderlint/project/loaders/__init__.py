"""Which loaders a project makes, and with which arguments."""
