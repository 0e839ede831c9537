"""``equipoise information``: what columns of a table tell about each other, in nats."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from equipoise.cli import information_summary as summary, options, pictures, streams

if TYPE_CHECKING:
    from equipoise.io.table import Table

Columns = list[str | int]


@click.command()
@click.argument("data", type=options.FILE)
@click.option("--x", help="Columns on one side, with commas between them: names, or positions as #0,#2.")
@click.option("--y", help="Columns on the other side.")
@click.option("--z", help="Columns that are given: what x and y tell about each other beyond them.")
@click.option("--matrix", is_flag=True, help="Every pair of columns instead.")
@options.columns
@click.option("--out", type=options.FILE, help="Write every row's pointwise information to this file, or every pair's.")
@click.option("--plot", "picture", type=options.FILE, help="Write a picture of the matrix (PNG, PDF, SVG).")
@options.two_samples
@options.budget
@options.seed
@options.missing
@options.as_json
def information(
    data: Path,
    x: str | None,
    y: str | None,
    z: str | None,
    matrix: bool,
    columns: str | None,
    out: Path | None,
    picture: Path | None,
    instance: str,
    budget: str,
    seed: int,
    missing: str,
    as_json: bool,
) -> None:
    """Estimate the mutual information of columns of DATA.

    That of --x and --y, given --z if there is one; or that of every pair of columns, with --matrix. Each value has its
    standard error and 95 % interval, from rows that were held out.

    Example: equipoise information rows.csv --x east,north --y height
    """
    import equipoise as eq
    from equipoise.io.writing import check_writable

    sides = {word: options.names(text) for word, text in (("x", x), ("y", y), ("z", z)) if text is not None}
    _check(sides, matrix, columns=columns, picture=picture, out=out)
    if out is not None:
        check_writable(out)
    pictures.check(picture)
    settings = {"instance": options.method(instance), "budget": options.steps(budget), "random_state": seed}
    wanted = options.names(columns) if matrix else [column for side in sides.values() for column in side or ()]
    rows = streams.read(data, wanted, missing)
    options.prepare(out, picture)
    estimator = eq.MutualInformation(**settings)
    facts = _of_pairs(estimator, rows, out, picture) if matrix else _of_sides(estimator, rows, sides, out)
    say = summary.pairs if matrix else summary.words
    click.echo(streams.as_json(facts) if as_json else say(facts))


def _of_sides(estimator: Any, rows: Table, sides: dict[str, Any], out: Path | None) -> summary.Facts:  # noqa: ANN401
    """The information of two sides, given a third."""
    from equipoise.io.writing import write_table

    ends = np.cumsum([len(columns) for columns in sides.values()])
    parts = [rows.select(range(end - len(columns), end)) for end, columns in zip(ends, sides.values(), strict=True)]
    estimator.set_params(verbose=int(sys.stderr.isatty()))
    with streams.at_once():
        fitted = estimator.fit(*parts)
    if out is not None:
        pointwise = streams.in_parts(
            rows.shape[0], "scoring", lambda start, stop: fitted.pointwise(*(p.part(start, stop) for p in parts))
        )
        write_table(out, {"pointwise": pointwise})
    return summary.of(fitted, rows, sides, {} if out is None else {"values": str(out)})


def _of_pairs(estimator: Any, rows: Table, out: Path | None, picture: Path | None) -> summary.Facts:  # noqa: ANN401
    """The information of every pair of columns."""
    from equipoise.io.writing import write_table

    count = rows.shape[1] * (rows.shape[1] - 1) // 2
    with streams.at_once(), streams.waiting(f"fitting {count:,} pairs of columns"):
        found = estimator.matrix(rows)
    files = {word: str(path) for word, path in (("pairs", out), ("picture", picture)) if path}
    facts = summary.of_pairs(found, rows, files)
    if out is not None:
        write_table(out, summary.columns(facts["pairs"]))
    if picture is not None:
        pictures.save(found.plot, picture)
    return facts


def _check(sides: dict[str, Any], matrix: bool, *, columns: str | None, picture: Path | None, out: Path | None) -> None:
    """Refuse options that do not go together."""
    message = ""
    if matrix and sides:
        message = f"--matrix takes every pair of columns, and no --{' or --'.join(sides)}; --columns says which"
    elif not matrix and not {"x", "y"} <= set(sides):
        message = "give --x and --y, columns on either side, or --matrix for every pair of columns"
    elif not matrix and (columns is not None or picture is not None):
        message = f"{'--columns' if columns is not None else '--plot'} goes with --matrix"
    elif matrix and out is not None and out.suffix.lower() == ".npy":
        message = f"{out}: pairs have names, which .npy has no room for; use .csv, .parquet, .feather or .npz"
    asked = [column for side in sides.values() for column in side]
    twice = sorted({str(column) for column in asked if asked.count(column) > 1})
    if twice:
        message = f"a column can stand on one side only; twice asked for: {', '.join(twice)}"
    if message:
        raise ValueError(message)
