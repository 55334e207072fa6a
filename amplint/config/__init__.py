"""Settings, where they come from and what they select."""
