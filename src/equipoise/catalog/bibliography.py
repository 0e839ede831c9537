"""The literature behind the catalogue: one entry for every key that a :class:`Reference` cites.

entry("Gutmann10aistats").text      one line
bibtex(instance.reference.cite)     a BibTeX file
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from equipoise.catalog.work import Entry
from equipoise.catalog.works import WORKS

__all__ = ["Entry", "bibtex", "entry", "works"]


def entry(key: str) -> Entry:
    """The work cited by a key.

    Example:
        >>> entry("Mirza14arxiv").text
        'Mehdi Mirza and Simon Osindero. Conditional Generative Adversarial Nets. arXiv:1411.1784, 2014.'
    """
    if key not in WORKS:
        near = get_close_matches(key, list(WORKS), n=3, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}?" if near else "bibliography.works() lists them all"
        message = f"the bibliography has no {key!r}; {hint}"
        raise ValueError(message)
    return WORKS[key]


def works() -> list[Entry]:
    """All entries, in alphabetical order of their keys."""
    return [WORKS[key] for key in sorted(WORKS)]


def bibtex(wanted: Iterable[str] | None = None) -> str:
    """BibTeX of the wanted keys, each once and in alphabetical order; of all where none are given."""
    chosen = works() if wanted is None else [entry(key) for key in sorted(set(wanted))]
    return "\n\n".join(work.bibtex for work in chosen) + "\n"
