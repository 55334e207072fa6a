"""Other programs that host amplint, such as flake8 and editors; this room holds no analysis."""
