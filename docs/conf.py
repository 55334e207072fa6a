"""How Sphinx builds the site: `python -m sphinx -W -b html docs docs/_build/html`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from amplint import __version__

project = "amplint"
author = "the amplint contributors"
project_copyright = author
release = version = __version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "examples"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"amplint {version}"
html_extra_path = ["amplint.schema.json"]
nitpicky = True
