"""Control flow of one function, knowing nothing of AMP."""
