"""``equipoise catalog`` and ``equipoise check``: the methods of the paper, and its theorems on your own magnitudes."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from equipoise.conditions import Report
    from equipoise.instance import Instance
    from equipoise.interval import Interval


@click.command()
@click.argument("name", required=False)
@click.option("--table", "number", type=int, help="Only the rows of one of the paper's instance tables, 1 to 6.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--bibtex", is_flag=True, help="Print the references as BibTeX.")
def catalog(name: str | None, number: int | None, as_json: bool, bibtex: bool) -> None:
    """List the methods of the paper, or show the one called NAME.

    Example: equipoise catalog nce
    """
    from equipoise import catalog as entries
    from equipoise.catalog import bibliography

    if name is not None and number is not None:
        message = f"give a name or --table, not both: got {name!r} and --table {number}"
        raise ValueError(message)
    chosen = [entries.get(name)] if name else entries.table(number) if number is not None else entries.all()
    if bibtex:
        click.echo(bibliography.bibtex(sorted({key for instance in chosen for key in instance.reference.cite})))
    elif as_json:
        facts = [describe(instance) for instance in chosen]
        click.echo(json.dumps(facts[0] if name else facts, indent=2, ensure_ascii=False))
    elif name:
        _print_one(chosen[0])
    else:
        _print_all(chosen)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("m_up")
@click.argument("m_down")
@click.option("--interval", help="K as low,high (inf and -inf are allowed); found from the ratio where not given.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the curve in the complex plane.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(m_up: str, m_down: str, interval: str | None, picture: Path | None, as_json: bool) -> None:
    """Check two magnitudes, written as formulas in u (and p, the base density), against the paper's theorems.

    Formulas are made of numbers, pi, e, + - * / **, brackets, and the functions exp, log, sqrt, sin, cos, tan, atan,
    tanh, sinh, cosh, asinh, erf, sigmoid, abs, sign, softplus, min, max, cut_at and reverse_at.

    Example: equipoise check "1/(exp(u)+1)" "1/(exp(-u)+1)"
    """
    from equipoise import theory

    K = None if interval is None else _interval(interval)
    report = theory.check(m_up, m_down, interval=K)
    if as_json:
        click.echo(json.dumps(_report(report), indent=2, ensure_ascii=False))
    else:
        click.echo(str(report))
    if picture is not None:
        _draw(m_up, m_down, report.interval, picture)


def describe(instance: Instance) -> dict[str, Any]:
    """What the catalogue knows of an instance, declared and derived."""
    printed = instance.printed
    return {
        "name": instance.name,
        "parameters": dict(instance.parameters),
        "estimand": {"name": instance.estimand.name, "words": instance.estimand.words, "tex": instance.estimand.tex},
        "height": instance.estimand.frame.formula,
        "printed": None if printed is None else asdict(printed),
        "interval": _ends(instance.interval),
        "reachable": _ends(instance.reachable),
        "sign": instance.sign,
        "range": instance.range,
        "feasible": instance.feasible,
        "has_loss": instance.has_loss,
        "needs_base": instance.needs_base,
        "bounded": instance.bounded,
        "bounds": [bound if isfinite(bound) else None for bound in instance.bounds],
        "where_only_up": _said(instance.where_only_up),
        "where_only_down": _said(instance.where_only_down),
        "pairing": {"name": instance.pairing.name, "up": instance.pairing.up, "down": instance.pairing.down},
        "pairings": [{"name": pairing.name, "words": pairing.words} for pairing in instance.pairings],
        "tables": list(instance.tables),
        "place": instance.reference.place,
        "references": list(instance.reference.cite),
    }


def _print_all(instances: list[Instance]) -> None:
    from rich.console import Console
    from rich.table import Table

    view = Table(box=None, pad_edge=False)
    for heading in ("name", "table", "learns", "K", "range", "bounded", "loss"):
        view.add_column(heading, no_wrap=heading != "learns")
    for i in instances:
        tables = ", ".join(map(str, i.tables))
        facts = ("yes" if i.bounded else "no", "known" if i.has_loss else "unknown")
        view.add_row(i.label, tables, i.estimand.words, str(i.interval), i.range, *facts)
    Console(width=None if Console().is_terminal else 140).print(view)


def _print_one(instance: Instance) -> None:
    from equipoise.catalog import bibliography
    from equipoise.theory import alone, check as checked

    said = [
        ("name", instance.label),
        ("learns", instance.estimand.words),
        ("in TeX", instance.estimand.tex),
        *(("or" if k else "pairing", f"{p.name}: {p.words}") for k, p in enumerate(instance.pairings)),
        ("height", f"f = {instance.estimand.frame.formula}, u the relative height"),
        ("K", str(instance.interval)),
        ("range", instance.range),
        ("bounds", ", ".join(_bound(side, b) for side, b in zip(("up", "down"), instance.bounds, strict=True))),
        ("loss", "in closed form" if instance.has_loss else "no closed form; none is needed"),
    ]
    if instance.reachable != instance.interval:
        at = 1 + next(k for k, (word, _) in enumerate(said) if word == "K")
        said.insert(at, ("reachable", f"{instance.reachable}, as the pairing bounds the ratio"))
    if instance.printed is not None:
        said += [("paper M_up", f"{instance.printed.up}   (f the height, p the base density)")]
        said += [("paper M_down", instance.printed.down)]
        sides = [("up", instance.printed.loss_up), ("down", instance.printed.loss_down)]
        said += [("paper loss", " + ".join(f"E_{side}[{term}]" for side, term in sides if term) or "unknown")]
        said += [("erratum", instance.printed.erratum)] if instance.printed.erratum else []
    said += [("paper", instance.reference.place)]
    said += [("by", bibliography.entry(key).text) for key in instance.reference.cite]
    for word, text in said:
        click.echo(f"{word:13s} {text}")
    click.echo(str(alone(instance)))
    click.echo(str(checked(instance)))


def _bound(side: str, largest: float) -> str:
    return f"|M_{side}| ≤ {largest:g}" if isfinite(largest) else f"M_{side} unbounded"


def _report(report: Report) -> dict[str, Any]:
    conditions = [{"text": c.text, "theorem": c.theorem, "holds": c.holds, "at": c.at} for c in report.conditions]
    return {
        "verdict": report.verdict,
        "interval": _ends(report.interval),
        "sign": report.sign,
        "conditions": conditions,
        "notes": list(report.notes),
    }


def _interval(text: str) -> Interval:
    from equipoise.interval import Interval

    try:
        low, high = (float(end) for end in text.split(","))
    except ValueError:
        message = f"--interval must be two numbers with a comma between them, such as 0,inf; got {text!r}"
        raise ValueError(message) from None
    return Interval(low, high)


def _draw(m_up: str, m_down: str, interval: Interval, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from equipoise import plots, theory

    ax = plots.polar(theory.from_formulas(m_up, m_down, interval=interval))
    figure: Any = ax.figure
    figure.savefig(path, dpi=150)
    click.echo(f"picture: {path}", err=True)


def _ends(interval: Interval) -> list[float | None]:
    return [end if isfinite(end) else None for end in (interval.low, interval.high)]


def _said(where: str | float) -> str | float:
    return {inf: "inf", -inf: "-inf"}.get(where, where) if isinstance(where, float) else where
