"""``equipoise sample``: new rows from a density."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from equipoise.cli import options, streams


@click.command()
@click.argument("model", type=options.FILE)
@click.argument("n", type=click.IntRange(min=1))
@click.option("--out", type=options.FILE, help="Write to this file (.csv, .parquet, .feather, .npy, .npz).")
@click.option("--seed", default=0, show_default=True, help="Seeds the draw.")
@options.as_json
def sample(model: Path, n: int, out: Path | None, seed: int, as_json: bool) -> None:
    """Draw N rows from a fitted MODEL.

    Example: equipoise sample model.eqp 1000 --out rows.csv
    """
    from equipoise.io.writing import check_writable, csv_text, write_table

    if out is not None:
        check_writable(out)
    fitted = streams.load(model, "Density")
    options.prepare(out)
    draws = np.random.RandomState(seed)  # scikit-learn's kind of random state, which moves on
    rows = streams.in_parts(n, "drawing", lambda start, stop: fitted.sample(stop - start, random_state=draws))
    names = getattr(fitted, "feature_names_in_", [f"column_{i}" for i in range(rows.shape[1])])
    columns = {str(name): rows[:, i] for i, name in enumerate(names)}
    if out is not None:
        write_table(out, columns)
        streams.say("wrote", f"{n:,} rows to {out}")
    if as_json:
        written = {"file": str(out)} if out is not None else {"rows": rows.tolist()}
        click.echo(streams.as_json({"names": list(columns), **written}))
    elif out is None:
        click.echo(csv_text(columns), nl=False)
