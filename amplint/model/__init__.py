"""The nouns that every other room passes around; this room knows no behaviour beyond its own invariants."""
