"""Markup that cannot be broken by what it holds: every string is escaped unless it is markup already.

tag("td", name)  →  <td>name, escaped</td>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_EMPTY = {"meta", "link", "circle", "line"}


class Html(str):
    """Text that is markup."""

    __slots__ = ()


def text(content: str) -> Html:
    """Content as markup; it stays what it is where it is markup already, and loses what no page can show."""
    if isinstance(content, Html):
        return content
    shown = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in content)
    return Html(escape(shown))


def tag(name: str, /, *children: str, **attributes: str | float) -> Html:
    """An element; a trailing underscore of an attribute's name is left out, others become hyphens."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(str(v))}"' for key, v in attributes.items() if v != ""
    )
    if name in _EMPTY:
        return Html(f"<{name}{given}/>")
    return Html(f"<{name}{given}>{together(children)}</{name}>")


def together(parts: Iterable[str]) -> Html:
    """Parts one after the other."""
    return Html("".join(text(part) for part in parts))


def paragraph(*children: str, **attributes: str) -> Html:
    """A paragraph."""
    return tag("p", *children, **attributes)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), faint: Sequence[int] = ()
) -> Html:
    """A table that scrolls by itself where the page is narrow.

    Arguments:
        heads: Over the columns.
        rows: The cells.
        numbers: Which columns are set flush right.
        faint: Which rows are set faint.
    """
    kind = ["n" if i in set(numbers) else "t" if head else "whiskers" for i, head in enumerate(heads)]
    head = tag("tr", *(tag("th", h, class_=k, scope="col") for h, k in zip(heads, kind, strict=True)))
    body = [
        tag(
            "tr",
            *(tag("td", cell, class_=k) for cell, k in zip(row, kind, strict=True)),
            class_="faint" if i in faint else "",
        )
        for i, row in enumerate(rows)
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def figure(picture: Html, caption: str = "") -> Html:
    """A picture with its caption."""
    return tag("figure", picture, tag("figcaption", caption) if caption else Html())
