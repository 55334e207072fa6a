"""What a program is made of and what its expressions may stand for; knows nothing of mixed precision."""
