"""``equipoise score``: a density scores a table."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from equipoise.cli import options, streams


@click.command()
@click.argument("model", type=options.FILE)
@click.argument("table", type=options.FILE)
@click.option("--out", type=options.FILE, help="Write to this file (.csv, .parquet, .feather, .npy, .npz).")
@options.missing
@options.as_json
def score(model: Path, table: Path, out: Path | None, missing: str, as_json: bool) -> None:
    """Score every row of TABLE under a fitted MODEL.

    Prints log densities in nats, one a row, in the order of the rows.

    Example: equipoise score model.eqp rows.parquet --out scores.csv
    """
    import equipoise as eq
    from equipoise.io.writing import check_writable, csv_text, write_table

    if out is not None:
        check_writable(out)
    fitted = eq.load(model)
    rows = streams.read_for(fitted, table, missing)
    options.prepare(out)
    values = streams.in_parts(
        rows.shape[0], "scoring", lambda start, stop: fitted.score_samples(rows.part(start, stop))
    )
    finite = values[np.isfinite(values)]
    mean = float(finite.mean()) if len(finite) else float("nan")
    impossible = len(values) - len(finite)
    if out is not None:
        write_table(out, {"log_density": values})
        words = f", {impossible:,} of them −∞" if impossible else ""
        streams.say("wrote", f"{len(values):,} log densities to {out}{words}; mean {mean:.4f}")
    if as_json:
        written = {"file": str(out)} if out is not None else {"log_density": values.tolist()}
        click.echo(streams.as_json({**written, "rows": len(values), "mean": mean, "impossible": impossible}))
    elif out is None:
        click.echo(csv_text({"log_density": values}), nl=False)
