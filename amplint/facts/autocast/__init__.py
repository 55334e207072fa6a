"""Where autocast is on, and what runs there; refuses to follow the paths of the gradient scaler."""
