"""``equipoise report``: one page on a fitted density."""

from __future__ import annotations

from pathlib import Path

import click

from equipoise.cli import options, streams


@click.command()
@click.argument("model", type=options.FILE)
@click.argument("table", type=options.FILE, required=False)
@click.option("--test", type=options.FILE, help="Untouched rows: what the page claims is measured on them.")
@click.option("--out", type=options.FILE, help="Write to this file instead of standard output.")
@click.option("--title", help="The heading.")
@options.missing
def report(
    model: Path, table: Path | None, test: Path | None, out: Path | None, title: str | None, missing: str
) -> None:
    """Write a page on a fitted MODEL, and TABLE.

    One self-contained HTML file: what was read, tried and chosen, how good it is, and pictures of the model beside
    the rows of TABLE where it is given.

    Example: equipoise report model.eqp rows.csv --test fresh.csv --out page.html
    """
    from equipoise import report as pages

    fitted = streams.load(model, "Density")
    rows, fresh = (None if path is None else streams.read_for(fitted, path, missing) for path in (table, test))
    options.prepare(out)
    with streams.waiting("writing the report"):
        page = pages.density(fitted, rows, fresh, title=title)
    if out is None:
        click.echo(page, nl=False)
        return
    from equipoise.io.atomic import write_text

    write_text(out, page)
    streams.say("wrote", str(out))
