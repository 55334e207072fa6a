"""What the code means, without opinions."""
