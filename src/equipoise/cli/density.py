"""``equipoise fit`` and ``equipoise score``: a table becomes a density, a density scores a table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write the fitted model to this file.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Write a picture of it (PNG, PDF, SVG).")
@click.option("--columns", help="Names of the columns to use, with commas between them; all where not given.")
@click.option("--instance", default="auto", show_default=True, help="A method of the catalogue.")
@click.option("--base", default="auto", show_default=True, help="auto, uniform, gaussian or gaussian_mixture.")
@click.option("--budget", default="auto", show_default=True, help="Steps, or a time such as 90s or 5m.")
@click.option("--seed", default=0, show_default=True, help="Seeds everything.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def fit(
    table: Path,
    out: Path | None,
    picture: Path | None,
    columns: str | None,
    instance: str,
    base: str,
    budget: str,
    seed: int,
    as_json: bool,  # a flag of click
) -> None:
    """Fit a density to the rows of TABLE (CSV)."""
    import equipoise as eq

    for target in (out, picture):
        if target is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
    rows = _read(table, columns, quiet=as_json)
    steps = int(budget) if budget.isdigit() else budget
    model = eq.Density(instance=instance, base=base, budget=steps, random_state=seed, verbose=int(sys.stderr.isatty()))
    model.fit(rows)
    if out is not None:
        eq.save(model, out)
    if picture is not None:
        _draw(model, rows, picture)
    if as_json:
        click.echo(json.dumps(_summary(model, rows.shape), indent=2))
        return
    _print_summary(model)
    for words, target in (("model", out), ("picture", picture)):
        if target is not None:
            click.echo(f"{words:9s}{target}")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write to this CSV file instead of standard output.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def score(model: Path, table: Path, out: Path | None, as_json: bool) -> None:
    """Print the log density of every row of TABLE (CSV) under a fitted MODEL."""
    import equipoise as eq

    fitted = eq.load(model)
    names = [str(name) for name in getattr(fitted, "feature_names_in_", ())]
    values = fitted.score_samples(_read(table, None, quiet=out is None or as_json, wanted=names))
    if as_json:
        finite = [value if abs(value) < float("inf") else None for value in values.tolist()]
        text = json.dumps({"log_density": finite, "mean": float(values.mean()) if None not in finite else None})
    else:
        text = "\n".join(["log_density", *(f"{value:.6f}" for value in values)])
    if out is None:
        click.echo(text)
        return
    out.write_text(text + "\n", encoding="utf-8")
    click.echo(f"wrote {len(values):,} log densities to {out}; mean {values.mean():.4f}")


def _read(path: Path, columns: str | None, *, quiet: bool, wanted: list[str] | None = None) -> Any:  # noqa: ANN401
    from equipoise.io.tables import read_table

    table = read_table(path)
    if columns:
        table = table.select(tuple(name.strip() for name in columns.split(",")))
    elif wanted and set(wanted) <= set(table.names):
        table = table.select(tuple(wanted))
    if not quiet:
        rows, count = table.shape
        click.echo(f"read     {path}: {rows:,} rows, {count} columns ({', '.join(table.names)})")
    return table


def _summary(model: Any, shape: tuple[int, int]) -> dict[str, Any]:  # noqa: ANN401
    return {
        "rows": shape[0],
        "columns": shape[1],
        "instance": model.instance_.label,
        "candidates": model.selection_,
        "log_normalizer": model.log_normalizer_,
        "log_normalizer_se": model.log_normalizer_se_,
        "steps": model.history_.step[-1] + 1 if model.history_.step else 0,
    }


def _print_summary(model: Any) -> None:  # noqa: ANN401
    from rich.console import Console
    from rich.table import Table

    view = Table(box=None, pad_edge=False)
    view.add_column("candidate")
    view.add_column("held-out log density", justify="right")
    view.add_column("")
    for row in model.selection_:
        view.add_row(row["name"], f"{row['score']:.4f} ± {row['se']:.4f}", "kept" if row["weight"] else "")
    Console().print(view)
    if model.surface_ is None:
        click.echo("the base alone was kept: no surface beat it by a standard error on held-out rows")
    else:
        click.echo(f"log Z    {model.log_normalizer_:.4f} ± {model.log_normalizer_se_:.4f}")


def _draw(model: Any, rows: Any, path: Path) -> None:  # noqa: ANN401
    import matplotlib as mpl

    mpl.use("Agg")
    ax = model.plot.pair(rows) if model.n_features_in_ > 1 else model.plot.marginals(rows)
    ax.figure.savefig(path, dpi=150)
