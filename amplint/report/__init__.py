"""Findings as output formats, one module each."""
