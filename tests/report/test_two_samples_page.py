"""The page on a two-sample test: well formed, self-contained, safe from names, and it says what the test found."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise import report
from equipoise.report.markup import text

VOID = {"meta", "link"}
NASTY = "<script>alert('x')</script> & $x$"


class Reader(HTMLParser):
    """Holds every element to its end tag, and collects text and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.attributes, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def said(self):
        return " ".join(" ".join(self.texts).split())


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def tables(d=3, shift=1.0):
    rng = np.random.default_rng(0)
    names = [NASTY, *(f"column {j}" for j in range(1, d))]
    x, y = (pd.DataFrame(rng.normal(size=(n, d)), columns=names) for n in (120, 90))
    y[NASTY] += shift
    return x, y


@pytest.fixture(scope="module")
def made():
    test = eq.TwoSampleTest(random_state=0).fit(*tables())
    return test, report.two_samples(test)


def test_it_is_well_formed_and_needs_nothing_else(made):
    reader = read(made[1])
    assert not {"script", "img", "iframe"} & set(reader.tags)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:") in reader.attributes
    for name, value in reader.attributes:
        if name in ("src", "href"):
            assert value.startswith(("data:", "#"))
    assert not re.findall(r"https?://", made[1])


def test_names_are_only_ever_text(made):
    reader = read(made[1])
    assert "<script>" not in made[1]
    assert str(text(NASTY)) in made[1]
    assert NASTY in reader.said


def test_it_says_what_the_test_found(made):
    test, page = made
    said = read(page).said
    assert test.report_.verdict in said
    assert test.report_.columns_said in said
    for statistic in test.selection_:
        assert statistic["name"] in said
    for column in test.drift_:
        assert column.name in said
    assert page.count("<figure>") == 3 + 1 + 1  # columns, the pair, the witness


def test_warnings_stand_at_the_top():
    x, y = tables()
    said = read(report.two_samples(eq.TwoSampleTest(random_state=0).fit(x, y[y.columns[::-1]]))).said
    assert "One thing to know Y's columns were put into the order of X's" in said


@pytest.mark.parametrize("d", [1, 2, 45])
def test_any_number_of_columns_has_a_page(d):
    test = eq.TwoSampleTest(random_state=0, permutations=49).fit(*tables(d))
    page = report.two_samples(test)
    said = read(page).said
    assert ("And 5 more." in said) == (d == 45)
    assert ("A pair of columns" in said) == (d > 1)
    assert page.count("<figure>") == min(d, 12) + (d > 1) + 1


def test_samples_without_a_difference_have_a_page():
    x, _ = tables()
    said = read(report.two_samples(eq.TwoSampleTest(random_state=0).fit(x, x))).said
    assert "no proof that there is none" in said
    assert "hold the same rows" in said


def test_whole_numbers_are_drawn_apart():
    rng = np.random.default_rng(0)
    x, y = rng.poisson(2.0, (200, 2)), rng.poisson(3.0, (150, 2))
    assert "Which columns differ" in report.two_samples(eq.TwoSampleTest(random_state=0).fit(x, y), title="Counts")


def test_it_is_written_to_a_file(made, tmp_path):
    report.write(tmp_path / "page.html", made[0], title="Then and now")
    assert "<h1>Then and now</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")
