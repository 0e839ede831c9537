"""Sphinx configuration: Markdown pages (MyST) in furo's theme, strict about references."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "equipoise"
author = "The equipoise authors"
copyright = "2026, The equipoise authors"
release = installed_version("equipoise")
version = release

extensions = ["myst_parser", "_math"]
html_math_renderer = "drawn"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_generated"]
nitpicky = True

html_theme = "furo"
html_title = "equipoise"
html_static_path = ["_static"]
html_css_files = ["pages.css"]


def _generate(_app: object) -> None:
    import _examples
    import _generate

    _generate.write()
    _examples.write()


def setup(app: object) -> None:
    """Write the generated pages before Sphinx looks for pages to read."""
    app.connect("builder-inited", _generate)
