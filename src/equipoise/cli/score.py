"""``equipoise score``: a density scores a table, or a ratio does."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from equipoise.cli import options, streams

_VALUES = {"Density": ("log_density", "log densities"), "DensityRatio": ("log_ratio", "log ratios")}


@click.command()
@click.argument("model", type=options.FILE)
@click.argument("table", type=options.FILE)
@click.option("--out", type=options.FILE, help="Write to this file (.csv, .parquet, .feather, .npy, .npz).")
@options.missing
@options.as_json
def score(model: Path, table: Path, out: Path | None, missing: str, as_json: bool) -> None:
    """Score every row of TABLE under a fitted MODEL.

    Prints log densities in nats, one a row, in the order of the rows; log ratios where MODEL is a ratio.

    Example: equipoise score model.eqp rows.parquet --out scores.csv
    """
    from equipoise.io.writing import check_writable, csv_text, write_table

    if out is not None:
        check_writable(out)
    fitted = streams.load(model, *_VALUES)
    column, called = _VALUES[type(fitted).__name__]
    values_of = fitted.log_ratio if column == "log_ratio" else fitted.score_samples
    rows = streams.read_for(fitted, table, missing)
    options.prepare(out)
    values = streams.in_parts(rows.shape[0], "scoring", lambda start, stop: values_of(rows.part(start, stop)))
    finite = values[np.isfinite(values)]
    mean = float(finite.mean()) if len(finite) else float("nan")
    impossible = len(values) - len(finite)
    if out is not None:
        write_table(out, {column: values})
        words = f", {impossible:,} of them −∞" if impossible else ""
        streams.say("wrote", f"{len(values):,} {called} to {out}{words}; mean {mean:.4f}")
    if as_json:
        written = {"file": str(out)} if out is not None else {column: values.tolist()}
        click.echo(streams.as_json({**written, "rows": len(values), "mean": mean, "impossible": impossible}))
    elif out is None:
        click.echo(csv_text({column: values}), nl=False)
