"""`python -m tests.mutation [COUNT] [SEED]`: prints the mutants that survive, and the share that was noticed."""

import sys

from tests.mutation.mutants import sample
from tests.mutation.notice import ROOT, survivors
from tests.mutation.test_mutation import PATHS, TESTS

count, seed = (*map(int, sys.argv[1:3]), 60, 0)[:2] if len(sys.argv) != 2 else (int(sys.argv[1]), 0)
chosen = sample(PATHS, count, seed)
left = survivors(chosen, TESTS)
for mutant in left:
    print(f"{mutant.path.relative_to(ROOT)}:{mutant.line}  {mutant.change}")
print(f"{len(chosen) - len(left)} of {len(chosen)} noticed")
