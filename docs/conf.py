"""Sphinx configuration: Markdown pages (MyST) in furo's theme, strict about references."""

from importlib.metadata import version as installed_version

project = "equipoise"
author = "The equipoise authors"
copyright = "2026, The equipoise authors"
release = installed_version("equipoise")
version = release

extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nitpicky = True

html_theme = "furo"
html_title = "equipoise"
