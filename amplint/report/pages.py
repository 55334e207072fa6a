"""Where the page of a rule can be read in a browser; holds no page itself."""

from functools import cache
from pathlib import Path

from amplint import __version__


def rule_url(docs: str | None, code: str, name: str) -> str | None:
    """The address of a rule's page below the address of a built documentation; None where there is none."""
    return f"{docs.rstrip('/')}/rules/{code}-{name}.html" if docs else None


@cache
def published() -> str | None:
    """The address that the installed amplint states for its documentation, which it does once that is published.

    Read where installers write it, without `importlib.metadata`, whose reader of mails takes longer than a report.
    """
    folder = Path(__file__).parent.parent.parent
    try:
        stated = (folder / f"amplint-{__version__}.dist-info" / "METADATA").read_text("utf-8", errors="replace")
    except OSError:  # run from a checkout
        return None
    fields = (line.partition(":") for line in stated.partition("\n\n")[0].splitlines())
    urls = (value.partition(",") for field, _, value in fields if field == "Project-URL")
    return next((url.strip() for name, _, url in urls if _is_docs(name)), None)


def _is_docs(name: str) -> bool:
    return name.strip().lower() in ("documentation", "docs")
