from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Folders and files whose tests start processes or check whole folders, and take seconds each.
LONG = {
    "adapters",
    "cli",
    "engine",
    "mutation",
    "proof",
    "runtime",
    "test_docs.py",
    "test_lean.py",
    "test_packaging.py",
    "test_pre_commit.py",
    "test_recipes.py",
    "test_security.py",
    "test_tutorials.py",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens of fixtures")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that short ones are left for whoever is done first; then fixture after fixture.

    What is worked out of a fixture is worked out once where its tests run in one process.
    """
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[int, str]:
    if item.path.relative_to(TESTS).parts[0] in LONG:
        return 0, ""
    given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    if "case" in given:
        return 2, given["case"].id
    if "registered" in given:
        return 2, f"{given['registered'].rule.code}/~"
    return 1, ""


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))
