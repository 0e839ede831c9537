"""The command line: parsing and printing only; whatever it does can be done from Python in as many words.

    equipoise fit TABLE --out MODEL      equipoise score MODEL TABLE      equipoise sample MODEL N
    equipoise report MODEL [TABLE]       equipoise ratio NUM DEN          equipoise information DATA --x a --y b
    equipoise test A B                   equipoise catalog [NAME]         equipoise check "M_UP" "M_DOWN"

Results go to files or standard output, everything said beside them to standard error. Bad input ends in one line there
and exit code 2, Ctrl-C in one line and exit code 130.
"""

from __future__ import annotations

import click

from equipoise import __version__
from equipoise.cli.catalogue import catalog, check
from equipoise.cli.fit import fit
from equipoise.cli.information import information
from equipoise.cli.one_line import OneLine
from equipoise.cli.ratio import ratio
from equipoise.cli.report import report
from equipoise.cli.sample import sample
from equipoise.cli.score import score
from equipoise.cli.test import test


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="equipoise")
def main() -> None:
    """Densities, ratios and critics from one idea: a surface on which two forces balance.

    Tables are CSV, Parquet, Feather, .npy or .npz. Each command says what it read, and has --help with an example.
    """


for command in (fit, score, sample, report, ratio, information, test, catalog, check):
    main.add_command(command)
