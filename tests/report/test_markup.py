"""Markup escapes what it holds; numbers are as long as their errors allow."""

import math

import pytest
from hypothesis import given, strategies as st

from equipoise.report.markup import Html, table, tag, text
from equipoise.report.words import general, number, plus_minus


@given(st.text())
def test_no_text_opens_an_element(content):
    escaped = tag("p", content, title=content)
    assert escaped.count("<") == 2
    assert escaped.count('"') in {0, 2}


def test_markup_stays_markup():
    assert tag("p", tag("b", "a < b"), Html("<i>")) == "<p><b>a &lt; b</b><i></p>"
    assert text(text("&")) == "&amp;"
    assert tag("meta", name="x", http_equiv="y", class_="") == '<meta name="x" http-equiv="y"/>'


def test_tables_mark_numbers_and_what_is_faint():
    made = table(("a", "b"), [("x", "1"), ("y", "2")], (1,), (1,))
    assert '<th class="n" scope="col">b</th>' in made
    assert '<tr class="faint"><td class="t">y</td><td class="n">2</td></tr>' in made


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (-2.31416, 0.0123, "−2.314 ± 0.012"),
        (-2.31416, 0.0, "−2.3142 ± 0.0000"),
        (1234.5678, 12.0, "1,235 ± 12"),
        (-0.0018971, 0.0000593, "−0.001897 ± 0.000059"),
        (0.5, 0.999, "0.50 ± 1.00"),
        (1e-9, 1e-12, "0.0000 ± 0.0000"),
        (-math.inf, math.inf, "−∞"),
        (math.nan, 0.1, "not known"),
        (-2.5, math.nan, "−2.5000"),
        (5e20, 1e20, "5e+20 ± 1e+20"),
    ],
)
def test_errors_have_two_figures(value, error, words):
    assert plus_minus(value, error) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(3.0, "3"), (-12345.0, "−12,345"), (1e12, "1e+12"), (1.5e-12, "1.5e−12"), (0.123456, "0.1235"), (math.inf, "∞")],
)
def test_values_of_data(value, words):
    assert general(value) == words


def test_a_minus_is_a_minus():
    assert number(-0.5, 1) == "−0.5"
