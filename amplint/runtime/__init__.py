"""Runs a training script, watches what AMP does in it, judges fixes by experiment; the only room that imports torch.

Knows PyTorch's classes and how to start, observe and compare runs. Refuses to know rules, source text and reports:
it answers with sightings and verdicts that other rooms turn into findings.
"""
