"""One work of the literature, and how it is cited.

entry.text       one line        entry.bibtex      the same in BibTeX
"""

from __future__ import annotations

from dataclasses import dataclass

_VENUE_FIELD = {"article": "journal", "book": "publisher", "incollection": "booktitle", "inproceedings": "booktitle"}


@dataclass(frozen=True)
class Entry:
    """One work.

    Arguments:
        key: The key it is cited by; the paper's own.
        kind: BibTeX's entry type: article, book, incollection, inproceedings or misc.
        author: Authors in full, joined by "and".
        title: The title.
        year: The year of publication.
        venue: Journal, proceedings, the book a chapter is in, or a book's publisher.
        volume: Volume, where there is one.
        number: Issue, where there is one.
        pages: Pages, as ``first--last``.
        arxiv: The arXiv number.
    """

    key: str
    kind: str
    author: str
    title: str
    year: int
    venue: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    arxiv: str = ""

    @property
    def bibtex(self) -> str:
        """The entry in BibTeX, its title's capitals protected."""
        fields = {
            "author": self.author,
            "title": f"{{{self.title}}}",
            _VENUE_FIELD.get(self.kind, "howpublished"): self.venue,
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages,
            "year": str(self.year),
            "eprint": self.arxiv,
            "archiveprefix": "arXiv" if self.arxiv else "",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    @property
    def text(self) -> str:
        """The entry on one line: authors, title, venue, year."""
        issue = f" {self.volume}" + (f"({self.number})" if self.number else "") if self.volume else ""
        pages = f":{self.pages.replace('--', '–')}" if self.pages and issue else ""
        place = f"{self.venue}{issue}{pages}" or f"arXiv:{self.arxiv}"
        return f"{_listed(self.author)}. {self.title}. {place}, {self.year}."


def _listed(author: str) -> str:
    names = author.split(" and ")
    if names[-1] == "others":
        return f"{names[0]} et al"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
