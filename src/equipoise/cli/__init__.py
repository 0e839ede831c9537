"""The command line: parsing and printing only; whatever it does can be done from Python in as many words.

    equipoise fit TABLE --out MODEL        equipoise score MODEL TABLE
    equipoise catalog [NAME]               equipoise check "M_UP" "M_DOWN"

Bad input ends in one line on standard error and exit code 2.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from equipoise import __version__
from equipoise.cli.catalogue import catalog, check
from equipoise.cli.density import fit, score


class OneLine(click.Group):
    """A group whose commands answer bad input in one line."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run the command; what the package refuses is the user's to read, in one line and without a traceback."""
        try:
            return super().invoke(ctx)
        except (ValueError, TypeError, ImportError, OSError, FloatingPointError) as error:
            click.echo(f"equipoise: {' '.join(str(error).split())}", err=True)
            sys.exit(2)


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="equipoise")
def main() -> None:
    """Densities, ratios and critics from one idea: a surface on which two forces balance."""


for command in (fit, score, catalog, check):
    main.add_command(command)
