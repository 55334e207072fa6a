"""Runs training scripts and judges what they did; the only room that imports torch."""
