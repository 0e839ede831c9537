"""Formulas of the pages as drawings: every one can be set, and says its TeX to those who cannot see it."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FORMULA = re.compile(r"(?<![\\$])\$([^$`]+)\$")


@pytest.fixture(scope="module")
def drawing():
    sys.path.insert(0, str(DOCS))
    from _math import drawing

    yield drawing
    sys.path.remove(str(DOCS))


def formulas():
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md")))
    return sorted(set(FORMULA.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL))))


def test_every_formula_of_the_pages_is_set(drawing):
    written = formulas()
    assert len(written) > 100
    for tex in written:
        assert len(re.search(r' d="([^"]*)"', drawing(tex)).group(1)) > 20


def test_a_drawing_stands_on_the_line_as_a_word_does(drawing):
    def deep(tex):
        return float(re.search(r"vertical-align:(-?[\d.]+)em", drawing(tex)).group(1))

    assert deep("x") == pytest.approx(0.0, abs=0.03)
    assert deep("y") < -0.15
    assert deep(r"\frac{x}{y}") < deep("y")


def test_a_displayed_fraction_is_larger(drawing):
    assert drawing(r"\frac12", displayed=True) == drawing(r"\dfrac{1}{2}").replace("dfrac{1}{2}", "frac12")


def test_a_drawing_says_its_tex_and_takes_the_texts_colour(drawing):
    drawn = drawing("a < b")
    assert 'aria-label="a &lt; b"' in drawn
    assert 'fill="currentColor"' in drawn
    assert "http" not in drawn


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"\frac\pi2", r"\frac{\pi}{2}"),
        (r"\sqrt z", r"\sqrt{z}"),
        (r"a \le b", r"a \leq b"),
        (r"\left(x\right)", r"\left( x \right)"),
        (r"\big[x\big]", "[x]"),
        (r"\lvert x \rvert", "|x|"),
    ],
)
def test_what_the_setter_does_not_know_is_said_in_words_that_it_knows(drawing, one, other):
    def outline(tex):
        return re.search(r' d="([^"]*)"', drawing(tex)).group(1)

    assert outline(one) == outline(other)


def test_what_cannot_be_set_is_refused(drawing):
    with pytest.raises(ValueError, match="nonsense"):
        drawing(r"\nonsense{x}")
