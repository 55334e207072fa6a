"""Where a rule's page can be read on the web; holds no page itself."""

# The address of the rule pages, with a slash at its end; None for as long as they are not published.
ADDRESS: str | None = None


def rule_url(code: str, name: str) -> str | None:
    """The address of a rule's page."""
    return f"{ADDRESS}{code}-{name}.html" if ADDRESS else None
