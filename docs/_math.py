# ruff: noqa: INP001  (a part of the documentation, not of a package)
r"""Formulas as drawings in the page: no script, no network, the text's colour, and the TeX for screen readers.

$\frac{1}{2}$   →   <svg aria-label="\frac{1}{2}" …>        set by matplotlib's own TeX
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import Any

from docutils.nodes import SkipNode
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path
from sphinx.util.logging import getLogger

FONT = FontProperties(family="STIXGeneral", math_fontfamily="stix")
UNITS = 100  # per em; a hundredth of an em is finer than a pixel
ROOM = 1.08  # the formulas' letters are smaller than the text's of the same size
PEN = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
BAR, DISPLAYED_BAR = r"\frac", r"\dfrac"
ARGUMENT = r"\s*(\\[a-zA-Z]+|\w)"
IN_OTHER_WORDS = {  # what matplotlib's TeX does not know, or wants brackets for
    r"\\tfrac": r"\\frac",
    rf"\\frac{ARGUMENT}{ARGUMENT}": r"\\frac{\1}{\2}",
    rf"\\sqrt{ARGUMENT}": r"\\sqrt{\1}",
    rf"\\widetilde{ARGUMENT}": r"\\widetilde{\1}",
    r"\\(l|g)e(?![a-zA-Z])": r"\\\1eq",
    r"\\[lr]vert": "|",
    r"\\big(?![a-zA-Z])": "",
    r"\\varPhi": r"\\Phi",
}


@cache
def drawing(tex: str, *, displayed: bool = False) -> str:
    """An SVG of a formula, on the line as a word would be; fractions are large where it is displayed by itself."""
    known = " ".join(tex.split())
    for word, other in IN_OTHER_WORDS.items():
        known = re.sub(word, other, known)
    text = f"${known.replace(BAR, DISPLAYED_BAR) if displayed else known}$"
    width, height, depth = text_to_path.get_text_width_height_descent(text, FONT.copy(), ismath=True)
    scale = UNITS / FONT.get_size()
    width, height, depth = width * scale, height * scale, depth * scale
    path = TextPath((0, 0), text, size=UNITS, prop=FONT)
    wide, high, deep = (ROOM * size / UNITS for size in (width, height, depth))
    style = f"width:{wide:.2f}em;height:{high:.2f}em;vertical-align:{-deep:.2f}em"
    box = f"0 {depth - height:.0f} {width:.0f} {height:.0f}"
    return (
        f'<svg class="formula" role="img" aria-label="{escape(" ".join(tex.split()))}" style="{style}" viewBox="{box}">'
        f'<path fill="currentColor" d="{_strokes(path)}"/></svg>'
    )


def _strokes(path: Path) -> str:
    """The outline in SVG's letters, y downwards."""
    parts = []
    for points, code in path.iter_segments():
        pairs = zip(points[::2], points[1::2], strict=True)
        numbers = "" if code == Path.CLOSEPOLY else " ".join(f"{x:.0f} {-y:.0f}" for x, y in pairs)
        parts.append(f"{PEN[code]}{numbers}")
    return "".join(parts)


def _inline(translator: Any, node: Any) -> None:  # noqa: ANN401  # docutils' own
    _write(translator, node, "span")


def _display(translator: Any, node: Any) -> None:  # noqa: ANN401
    _write(translator, node, "div")


def _write(translator: Any, node: Any, tag: str) -> None:  # noqa: ANN401
    tex = node.astext()
    try:
        drawn = drawing(tex, displayed=tag == "div")
    except ValueError as error:
        reason = " ".join(str(error).splitlines()[-1:])
        getLogger(__name__).warning("this formula cannot be set: %s (%s)", tex, reason, location=node)
        drawn = f"<code>{escape(tex)}</code>"
    translator.body.append(f'<{tag} class="math">{drawn}</{tag}>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:  # noqa: ANN401  # a Sphinx application
    """Offer the renderer to Sphinx as ``html_math_renderer = "drawn"``."""
    app.add_html_math_renderer("drawn", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
