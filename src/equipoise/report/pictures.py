"""Pictures inside the page: matplotlib's SVG with the page's colours and letters, and nothing that points elsewhere.

Colours of :mod:`equipoise.plots.style` become the page's variables, so that pictures follow light and dark.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, Any

from equipoise.plots import style
from equipoise.report.markup import Html, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {
    style.MODEL: "var(--model)",
    style.OTHER: "var(--other)",
    style.ROWS: "var(--rows)",
    style.INK: "var(--ink)",
    style.FAINT: "var(--faint)",
}


def drawn(draw: Callable[[Axes], Any], name: str, *, width: float = 3.2, height: float = 2.3) -> Html:
    """What draw puts on axes, as an inline SVG that is as wide as the page lets it be.

    Arguments:
        draw: Draws on the axes that it is given.
        name: What the picture shows, for readers who do not see it; also keeps its parts apart from other pictures'.
        width: In inches, for letters of eight points; the page scales both alike.
        height: The same.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "axes.unicode_minus": True}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        ax = style.calm(figure.subplots())
        draw(ax)
        buffer = StringIO()
        with warnings.catch_warnings():  # letters that matplotlib's font lacks are the page's font's to find
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return Html(_inline(buffer.getvalue(), name))


def _inline(svg: str, name: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    head = re.sub(r'\s(?:xmlns(?::\w+)?|version|width|height)="[^"]*"', "", head)
    rest = rest.replace("xlink:href", "href")
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', rest))
    rest = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in wanted else "", rest)
    rest = re.sub(r"\n\s*", "\n", rest)
    for colour, variable in _COLOURS.items():
        rest = rest.replace(colour, variable)
    return f'{head} role="img" aria-label="{text(name)}">{rest.strip()}'
