"""Writes the parts of the documentation that follow from the code: `python -m docs.generate`.

With --check nothing is written; the stale files are named and the exit code is 1. Knows no page's content.
"""

import argparse
import sys
from pathlib import Path

from docs import options_page, pictures, rule_pages, runtime_page

ROOT = Path(__file__).parent.parent


def generated() -> dict[Path, str]:
    """Every generated file with the text that it should have."""
    pages = rule_pages.pages() | options_page.pages() | pictures.pages() | runtime_page.pages()
    readme = ROOT / "README.md"
    pages[readme] = rule_pages.with_table(readme.read_text(encoding="utf-8"))
    return pages


def left_over(pages: dict[Path, str]) -> list[Path]:
    """Pages of rules that are no more."""
    return sorted(path for path in rule_pages.FOLDER.glob("*.md") if path not in pages)


def is_stale(path: Path, text: str) -> bool:
    """Whether a file lacks the text that it should have."""
    return not path.exists() or path.read_text(encoding="utf-8") != text


def main(arguments: list[str]) -> int:
    """Write what is stale, or with --check name it. 1 where --check found something."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something is stale")
    is_check = parser.parse_args(arguments).check
    pages = generated()
    stale = [path for path, text in sorted(pages.items()) if is_stale(path, text)]
    gone = left_over(pages)
    if not is_check:
        for path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path], encoding="utf-8")
        for path in gone:
            path.unlink()
    for path in stale + gone:
        print(f"{path.relative_to(ROOT)}: {'stale; run `python -m docs.generate`' if is_check else 'written'}")
    return 1 if is_check and stale + gone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
