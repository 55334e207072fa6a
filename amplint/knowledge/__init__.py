"""What is true of PyTorch, as data."""
