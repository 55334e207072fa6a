"""`python -m amplint` is `amplint`."""

import sys

from amplint.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
