"""A training package, started with -m."""
