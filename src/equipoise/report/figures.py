"""The sections of pictures: training, marginals, pairs and calibration, each with what to look for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from equipoise.plots import style
from equipoise.plots.bins import Array
from equipoise.plots.calibration import draw as draw_calibration
from equipoise.plots.dependence import most_dependent
from equipoise.plots.history import forces, gain, is_pushed, is_scored
from equipoise.plots.marginals import MOST_PANELS, Marginal, draw as draw_marginal
from equipoise.plots.pair import MOST_COLUMNS, draw as draw_pair
from equipoise.plots.regions import field
from equipoise.plots.source import names_of
from equipoise.report.findings import Findings
from equipoise.report.markup import Html, figure, paragraph, tag, together
from equipoise.report.pictures import drawn
from equipoise.report.words import number, plus_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 300


def training(found: Findings) -> Html:
    """Held-out gain and forces along the push."""
    record: Any = getattr(found.model, "history_", None)
    head = tag("h2", "Training")
    if not is_pushed(record):
        return together([head, paragraph("No surface was pushed, or none was kept: there is nothing to show.")])
    apart = record.up_force[-1] - record.down_force[-1]
    words = (
        "Up forces act at the rows, down forces at rows of the base. Where they meet the surface is at rest: "
        f"at the last record they differ by {number(apart, 4)}."
    )
    pictures = [figure(drawn(lambda ax: forces(record, ax), "Forces along the push", height=2.4), words)]
    if is_scored(record):
        words = "The gain of the normalised model over the base alone on held-out rows. The best weights were kept."
        pictures.insert(
            0, figure(drawn(lambda ax: gain(record, ax), "Held-out gain along the push", height=2.4), words)
        )
    return together([head, tag("div", *pictures, class_="figures")])


def marginals(found: Findings) -> Html:
    """Each column's density beside the rows'."""
    shown, count = found.marginals[:MOST_PANELS], len(found.marginals)
    words = "Each column by itself."
    if found.compared is not None:
        words += " A bar that leaves the blue band differs from the model by more than chance would; one in twenty may."
    if count > len(shown):
        which = "the first" if found.compared is None else "those in which rows and model differ most"
        words += f" Shown are {len(shown)} of {count} columns, {which}."
    pictures = [
        figure(drawn(_panel(marginal), f"Marginal density {i}: {marginal.name}")) for i, marginal in enumerate(shown)
    ]
    return together([tag("h2", "Marginals"), paragraph(words), _key(found), tag("div", *pictures, class_="figures")])


def _panel(marginal: Marginal) -> Callable[[Axes], None]:
    def draw(ax: Axes) -> None:
        draw_marginal(marginal, ax)
        style.label(ax, y="")

    return draw


def _key(found: Findings) -> Html:
    def entry(kind: str, look: str, words: str) -> Html:
        return tag("span", tag("i", class_=kind, style=look), words)

    entries = [entry("line", "border-color: var(--model)", "model")]
    if found.compared is not None:
        whose = "untouched rows" if found.untouched else "rows given"
        entries += [
            entry("box", "background: var(--rows); opacity: 0.7", whose),
            entry("box", "background: var(--model); opacity: 0.25", "95 % of bars, were the model right"),
            entry("dot", "background: var(--other)", "bars outside"),
        ]
    return paragraph(*entries, class_="key")


def pairs(found: Findings) -> Html:
    """Joint densities of two columns."""
    model, rows = found.model, None if found.compared is None else found.compared.values
    if model.n_features_in_ < 2:
        return Html()
    names, at = names_of(model), most_dependent(found.samples, MOST_COLUMNS)
    pictures = []
    size = (4.3, 4.0) if len(at) == 2 else (3.2, 2.8)
    for both in [(at[j], at[i]) for i in range(len(at)) for j in range(i)]:
        name = f"Joint density of columns {both[0]} and {both[1]}: {names[both[0]]}, {names[both[1]]}"
        pictures.append(figure(drawn(_joint(found, rows, both, names), name, width=size[0], height=size[1])))
    words = "Shades hold 99, 95, 90, 80, …, 10 % of the model, the darkest the likeliest."
    words += " Dots are some of the rows." if rows is not None else ""
    if len(at) < model.n_features_in_:
        words += f" Of {model.n_features_in_} columns, the {len(at)} that depend on each other most."
    kind = "single" if len(pictures) == 1 else "figures"
    return together([tag("h2", "Pairs of columns"), paragraph(words), tag("div", *pictures, class_=kind)])


def _joint(found: Findings, rows: Array | None, both: tuple[int, int], names: list[str]) -> Callable[[Axes], None]:
    def draw(ax: Axes) -> None:
        some = None if rows is None else rows[:, both]
        draw_pair(ax, field(found.model, found.samples, rows, both), some, _POINTS)
        style.label(ax, names[both[0]], names[both[1]])

    return draw


def calibration(found: Findings) -> Html:
    """Log p of rows against log p of samples."""
    measured, head = found.calibration, tag("h2", "Calibration")
    if measured is None:
        return together(
            [head, paragraph("Calibration compares log p of rows with log p of samples; no rows were given.")]
        )
    mark = "measured on untouched rows" if found.untouched else "rows that may have been fitted to"
    words = (
        f"The rows average {plus_minus(measured.mean, measured.se)} nats, the model's own samples "
        f"{number(measured.own_mean, 4)}. Dots are quantiles of log p of the rows against those of samples; within the "
        "band the two cannot be told apart. Below the line, rows are stranger to the model than what it draws itself. "
        f"{number(100.0 * measured.astray, 0)} % of the dots lie outside the band."
    )
    drawing = drawn(lambda ax: draw_calibration(measured, ax), "Calibration of log p", width=3.9, height=3.7)
    picture = tag("div", figure(drawing), class_="single")
    return together(
        [
            head,
            tag("span", mark, class_=f"mark{' good' if found.untouched else ''}"),
            paragraph(words),
            picture,
        ]
    )
