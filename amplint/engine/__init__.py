"""Puts the rooms below together: check, fix, whole trees; prints nothing."""
