"""Where the page of a rule can be read in a browser; holds no page itself."""

from functools import cache


def rule_url(docs: str | None, code: str, name: str) -> str | None:
    """The address of a rule's page below the address of a built documentation; None where there is none."""
    return f"{docs.rstrip('/')}/rules/{code}-{name}.html" if docs else None


@cache
def published() -> str | None:
    """The address that the installed amplint states for its documentation, which it does once that is published."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        stated = metadata("amplint").get_all("Project-URL") or []
    except PackageNotFoundError:  # run from a checkout
        return None
    return next((url.strip() for name, _, url in (line.partition(",") for line in stated) if _is_docs(name)), None)


def _is_docs(name: str) -> bool:
    return name.strip().lower() in ("documentation", "docs")
