"""What a program does for training: backward passes, steps, schedulers, checkpoints, frameworks."""
