"""``equipoise ratio``: two tables become weights that make the rows of one look like the other's."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli import options, pictures, ratio_summary, streams

if TYPE_CHECKING:
    from equipoise.io.table import Table


@click.command()
@click.argument("num", type=options.FILE)
@click.argument("den", type=options.FILE)
@click.option("--out", type=options.FILE, help="Write the log ratio and weight of DEN's rows to this file.")
@click.option("--model", type=options.FILE, help="Write the fitted ratio to this file.")
@click.option("--plot", "picture", type=options.FILE, help="Write a picture of it (PNG, PDF, SVG).")
@options.columns
@options.two_samples
@options.budget
@options.seed
@options.missing
@options.as_json
def ratio(
    num: Path,
    den: Path,
    out: Path | None,
    model: Path | None,
    picture: Path | None,
    columns: str | None,
    instance: str,
    budget: str,
    seed: int,
    missing: str,
    as_json: bool,
) -> None:
    """Fit the ratio of the density of NUM's rows to that of DEN's.

    Weights, of mean 1, make the rows of DEN look like those of NUM. Says what was tried and chosen, how far apart the
    two densities are, and how many rows carry the weight.

    Example: equipoise ratio new.csv old.csv --out weights.parquet
    """
    import equipoise as eq
    from equipoise.estimators.two_tables import two_tables
    from equipoise.io.writing import check_writable, write_table

    if out is not None:
        check_writable(out)
    pictures.check(picture)
    wanted, settings = options.names(columns), {"instance": options.method(instance), "budget": options.steps(budget)}
    upper, lower = (streams.read(path, wanted, missing) for path in (num, den))
    upper, lower, notes = two_tables(upper, lower, (str(num), str(den)))
    options.prepare(out, model, picture)
    with streams.at_once():
        fitted = eq.DensityRatio(**settings, random_state=seed, verbose=int(sys.stderr.isatty())).fit(upper, lower)
    if model is not None:
        eq.save(fitted, model)
    if out is not None:
        table, said = _weights(fitted, lower)
        notes += said
        write_table(out, table)
    if picture is not None:
        pictures.save(fitted.plot.held_out, picture)
    files = {word: str(path) for word, path in (("weights", out), ("model", model), ("picture", picture)) if path}
    facts = ratio_summary.of(fitted, (upper, lower), notes, files)
    click.echo(streams.as_json(facts) if as_json else ratio_summary.words(facts))


def _weights(fitted: Any, rows: Table) -> tuple[dict[str, Any], list[str]]:  # noqa: ANN401
    """Columns of results for every row of the denominator, and what to know about them."""
    log_ratio = streams.in_parts(
        rows.shape[0], "weighing", lambda start, stop: fitted.log_ratio(rows.part(start, stop))
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weight = fitted.weights(rows)
    said = [str(warning.message) for warning in caught]
    return {"log_ratio": log_ratio, "weight": weight}, said
