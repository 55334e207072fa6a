"""`python -m tests.mutation [COUNT] [SEED]`: prints the mutants that survive, and the share that was noticed.

It reads the modules and the tests while it runs, so leave the checkout alone until it ends, or run it in a copy.
"""

import argparse
from pathlib import Path

from tests.mutation.child import ROOT, warm
from tests.mutation.mutants import sample
from tests.mutation.notice import verdicts
from tests.mutation.record import recorded

PATHS = ["amplint/flow", "amplint/facts/protocol"]
FIXTURES = "tests/test_fixtures.py::test_"
TESTS = [
    *("tests/flow", "tests/knowledge", "tests/rewrite"),
    *("tests/proof/test_flow.py", "tests/proof/test_reader.py", "tests/proof/test_torch.py"),
    *("tests/engine/test_fix.py", "tests/engine/test_link.py", "tests/engine/test_spell.py"),
    "tests/engine/test_hostile.py::test_too_many_states_are_said",
    *("tests/cli/test_facts.py", "tests/test_effects.py", "tests/test_names.py", "tests/test_spelling.py"),
    *(FIXTURES + name for name in ("expectations", "golden", "a_second_run_changes_nothing", "comments_stay")),
    "tests/gate/test_gate.py::test_a_right_loop_is_silent",
    "tests/gate/test_gate.py::test_a_mistake_is_reported_by_its_own_rule_alone",
]


def modules(paths: list[str]) -> list[Path]:
    """The modules of folders and files."""
    return sorted(
        module for path in paths for module in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--paths", nargs="+", default=PATHS, help="the modules and rooms to change")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="the tests that are to notice it")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    warm()
    paths = modules(given.paths)
    chosen = sample(paths, given.count, given.seed)
    record = recorded(given.tests, paths)
    noticed = 0
    for mutant, is_noticed in verdicts(chosen, record, given.jobs):
        noticed += is_noticed
        if not is_noticed:
            tests = len(record.tests_of(mutant))
            print(f"{mutant.path.relative_to(ROOT)}:{mutant.line}  {mutant.change}  ({tests} tests)", flush=True)
    print(f"{noticed} of {len(chosen)} noticed")


if __name__ == "__main__":
    main()
