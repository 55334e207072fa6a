"""How a module names the AMP API of PyTorch, which torch has which part of it, and how calls meet its signatures."""
