"""``equipoise test``: whether two tables were drawn from one density, and which columns differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equipoise.cli import options, streams


@click.command()
@click.argument("table_x", metavar="A", type=options.FILE)
@click.argument("table_y", metavar="B", type=options.FILE)
@click.option("--report", "page", type=options.FILE, help="Write a report on it, one HTML page.")
@click.option(
    "--columns", help="Columns to use, with commas between them: names, or positions as #0,#2. [default: all]"
)
@click.option(
    "--statistic",
    default="auto",
    show_default=True,
    help="auto, mmd, energy, classifier, columns, or a method such as logistic.",
)
@click.option("--level", default=0.05, show_default=True, help="How often equal samples may be called different.")
@click.option("--permutations", default="auto", show_default=True, help="How many random labellings; auto is 298.")
@click.option("--seed", default=0, show_default=True, help="Seeds everything.")
@options.missing
@options.as_json
def test(
    table_x: Path,
    table_y: Path,
    page: Path | None,
    columns: str | None,
    statistic: str,
    level: float,
    permutations: str,
    seed: int,
    missing: str,
    as_json: bool,
) -> None:
    """Test whether the rows of A and B come from one density.

    Says how sure that is, what was asked, and which columns differ: alone, and given the others. In the output, X is A
    and Y is B.

    Example: equipoise test old.csv new.csv --report drift.html
    """
    import equipoise as eq
    from equipoise.io.atomic import write_text

    wanted = options.names(columns)
    x, y = (streams.read(path, wanted, missing) for path in (table_x, table_y))
    options.prepare(page)
    asked = options.method(statistic) if "(" in statistic else statistic
    with streams.waiting("comparing"):
        tested = eq.TwoSampleTest(
            statistic=asked, level=level, permutations=_count(permutations), random_state=seed
        ).fit(x, y)
        report = tested.report_
    if page is not None:
        with streams.waiting("writing the report"):
            names = table_x.name, table_y.name
            write_text(page, eq.report.two_samples(tested, title=f"{names[0]} and {names[1]}", names=names))
    files: dict[str, Any] = {"report": str(page)} if page else {}
    if as_json:
        click.echo(streams.as_json({**report.facts, "files": files}))
        return
    click.echo(str(report))
    for word, path in files.items():
        click.echo(f"{word:9s}{path}")


def _count(text: str) -> int | str:
    return int(text) if text.isdigit() else text
