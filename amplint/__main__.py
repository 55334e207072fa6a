"""`python -m amplint` is `amplint`."""

from amplint.cli.main import enter

if __name__ == "__main__":
    enter()
