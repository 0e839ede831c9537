"""A page's frame: head, sections and foot in one self-contained document.

No script, no font, no picture from elsewhere; a policy in its head forbids them.
"""

from __future__ import annotations

from collections.abc import Iterable

from equipoise import __version__
from equipoise.report.markup import Html, paragraph, tag
from equipoise.report.style import CSS

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def document(heading: str, parts: Iterable[Html]) -> str:
    """The whole page."""
    foot = tag("footer", f"Written by equipoise {__version__}. The page needs nothing but itself.")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("link", rel="icon", href="data:,"),
        tag("title", heading),
        tag("style", Html(CSS)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', tag('main', *parts, foot)), lang='en')}\n"


def header(heading: str, lead: str, facts: Iterable[tuple[str, str, str]]) -> Html:
    """The heading, a sentence or two, and the few numbers that most readers come for, each with a remark."""
    entries = (tag("div", tag("dt", k), tag("dd", v, tag("small", s))) for k, v, s in facts)
    return tag(
        "header",
        paragraph("equipoise report", class_="kind"),
        tag("h1", heading),
        paragraph(lead, class_="lead"),
        tag("dl", *entries, class_="facts"),
    )


def cautions(said: list[str]) -> Html:
    """What a reader must know first; nothing where there is nothing."""
    if not said:
        return Html()
    title = "One thing to know" if len(said) == 1 else "Things to know"
    return tag("section", tag("h2", title), tag("ul", *(tag("li", words) for words in said)), class_="warnings")
