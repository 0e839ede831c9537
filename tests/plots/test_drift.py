"""Two samples in one picture: areas of one whatever their sizes, names taken literally, points of both."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from equipoise.plots.drift import COLOURS, draw_column, draw_pair

RNG = np.random.default_rng(0)


@pytest.fixture
def ax():
    with mpl.rc_context({"backend": "agg"}):
        yield Figure().subplots()


def test_bars_of_either_sample_have_an_area_of_one(ax):
    draw_column(ax, RNG.normal(size=300), RNG.normal(1.0, 1.0, size=80), "width")
    filled = [patch for patch in ax.patches if patch.get_fill()]
    assert len(filled) == 2
    for patch, colour in zip(filled, COLOURS, strict=True):
        values, edges, _ = patch.get_data()
        assert (values * np.diff(edges)).sum() == pytest.approx(1.0)
        assert mpl.colors.to_hex(patch.get_facecolor()) == colour


def test_whole_numbers_get_a_bar_each(ax):
    draw_column(ax, RNG.integers(0, 4, 200), RNG.integers(1, 5, 100), "visits")
    assert len(ax.patches) == 2 * 5
    assert len(ax.collections) == 2


def test_names_are_taken_literally_and_what_is_cut_is_said(ax):
    draw_column(ax, RNG.normal(size=300), np.append(RNG.normal(size=99), 1e6), "$x$")
    assert ax.get_xlabel().startswith("$x$\n(")
    assert not ax.xaxis.label.get_parse_math()


def test_as_many_points_of_either_sample(ax):
    draw_pair(ax, RNG.normal(size=(900, 2)), RNG.normal(size=(30, 2)) + 5.0, ("a", "b"))
    points = ax.collections[0]
    assert len(points.get_offsets()) == 60
    colours = [mpl.colors.to_hex(colour) for colour in points.get_facecolor()]
    assert [colours.count(colour) for colour in COLOURS] == [30, 30]
    near = points.get_offsets()[:, 0] < 3.0
    assert {colour for colour, n in zip(colours, near, strict=True) if n} == {COLOURS[0]}
