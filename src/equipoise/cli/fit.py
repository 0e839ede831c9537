"""``equipoise fit``: a table becomes a density."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from equipoise.cli import options, pictures, streams, summary


@click.command()
@click.argument("table", type=options.FILE)
@click.option("--out", type=options.FILE, help="Write the fitted model to this file.")
@click.option("--report", "page", type=options.FILE, help="Write a report on it, one HTML page.")
@click.option("--plot", "picture", type=options.FILE, help="Write a picture of it (PNG, PDF, SVG).")
@click.option("--test", type=options.FILE, help="Untouched rows on which to measure it.")
@options.columns
@options.instance
@click.option("--base", default="auto", show_default=True, help="What the surface is pushed over, such as gaussian.")
@options.budget
@options.seed
@options.missing
@options.as_json
def fit(
    table: Path,
    out: Path | None,
    page: Path | None,
    picture: Path | None,
    test: Path | None,
    columns: str | None,
    instance: str,
    base: str,
    budget: str,
    seed: int,
    missing: str,
    as_json: bool,
) -> None:
    """Fit a density to the rows of TABLE.

    Says what was tried, what was chosen and how good it is.

    Example: equipoise fit rows.csv --test fresh.csv --out model.eqp --report page.html
    """
    import equipoise as eq

    pictures.check(picture)
    wanted = options.names(columns)
    rows = streams.read(table, wanted, missing)
    fresh = None if test is None else streams.read(test, list(rows.names) or wanted, missing, word="test")
    settings = {"instance": options.method(instance), "base": base, "budget": options.steps(budget)}
    options.prepare(out, page, picture)
    model = eq.Density(**settings, random_state=seed, verbose=int(sys.stderr.isatty())).fit(rows)
    if getattr(getattr(model, "history_", None), "interrupted", False):
        raise KeyboardInterrupt  # the push keeps its best weights, but nobody waits for them here
    if out is not None:
        eq.save(model, out)
    if picture is not None:
        _draw(model, rows, picture)
    if page is not None:
        _report(model, rows, fresh, page)
    files = {word: str(path) for word, path in (("model", out), ("picture", picture), ("report", page)) if path}
    facts = summary.of(model, rows, fresh, files)
    click.echo(streams.as_json(facts) if as_json else summary.words(facts))


def _draw(model: Any, rows: Any, path: Path) -> None:  # noqa: ANN401
    pictures.save(lambda: model.plot.marginals(rows) if model.n_features_in_ == 1 else model.plot.pair(rows), path)


def _report(model: Any, rows: Any, fresh: Any, path: Path) -> None:  # noqa: ANN401
    from equipoise import report

    with streams.waiting("writing the report"):
        report.write(path, model, rows, fresh)
