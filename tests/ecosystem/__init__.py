"""Runs amplint on copies of whole repositories that are not kept here, and holds its fixes to their promises."""
