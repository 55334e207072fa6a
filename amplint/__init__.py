"""amplint finds misuse of PyTorch automatic mixed precision, repairs it, and checks the repair at run time."""

__version__ = "0.1.0"
