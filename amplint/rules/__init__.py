"""Opinions: one module a rule, found by walking this package."""
