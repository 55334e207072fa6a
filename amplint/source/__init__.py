"""Bytes of files: encodings, newlines, notebooks, discovery; knows nothing of Python's meaning."""
