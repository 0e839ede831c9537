import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import to_hex

import equipoise as eq

RED, BLUE, AMBER = "#c8352b", "#1f5fa8", "#e09a00"


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def _lines(ax):
    return {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}


def test_draws_the_square_loss_as_the_paper_does():
    ax = eq.plots.polar(eq.catalog.get("square"))
    lines = _lines(ax)
    assert {label: to_hex(line.get_color()) for label, line in lines.items()} == {
        "below K": RED,
        "K": BLUE,
        "above K": AMBER,
    }
    x, y = (torch.as_tensor(values) for values in lines["K"].get_data())
    torch.testing.assert_close(x + y, torch.full_like(x, 2.0))  # (1 − u) + (1 + u)
    assert (x > 0).all()
    assert (y > 0).all()
    assert "any range" in ax.get_title()


def test_the_gan_critics_parts_lie_in_the_wrong_quadrants_and_the_scale_says_so():
    ax = eq.plots.polar(eq.catalog.get("gan_critic"))
    x, y = (torch.as_tensor(values).nan_to_num() for values in _lines(ax)["below K"].get_data())
    assert (x <= 1e-9).all()
    assert (y >= -1e-9).all()
    assert "asinh" in ax.get_xlabel()
    assert "range must be K" in ax.get_title()


def test_quadrants_are_labelled():
    texts = [text.get_text() for text in eq.plots.polar(eq.catalog.get("nce")).texts]
    for quadrant in ("I\nK", "II\nabove K", "III\nK of negative\ninstances", "IV\nbelow K"):
        assert quadrant in texts


@pytest.mark.parametrize("inst", eq.catalog.all(), ids=lambda inst: inst.label)
def test_draws_every_method(inst):
    _, ax = plt.subplots()
    assert eq.plots.polar(eq.theory.polar(inst, n=201), ax) is ax
    for line in _lines(ax).values():
        assert (abs(torch.as_tensor(line.get_xydata())).nan_to_num() < 1e4).all()


@pytest.mark.parametrize(
    ("inst", "places"),
    [
        (eq.catalog.unit, {(1, 1)}),
        (eq.catalog.hinge(1.0), {(1, 0), (1, 1), (0, 1)}),
        (eq.catalog.ebgan(1.0), {(-1, -1), (-1, 0)}),
    ],
    ids=["unit", "hinge", "ebgan"],
)
def test_a_curve_that_rests_and_jumps_is_a_dot_wherever_it_rests(inst, places):
    lines = [line for line in eq.plots.polar(inst).get_lines() if line.get_marker() == "o"]
    dots = {(round(x), round(y)) for line in lines if line.get_color() == BLUE for x, y in line.get_xydata().tolist()}
    assert dots == places


def test_the_ends_of_k_are_seen_from_inside_where_the_curve_jumps():
    """K as found for LDAR's formulas ends a rounding beyond −π/2 and π/2, where the tangent has changed its sign."""
    inst = eq.theory.from_formulas("1/(exp(tan(u)) + 1)", "1/(exp(-tan(u)) + 1)")
    ax = eq.plots.polar(inst)
    ends = {text.get_text(): text.xy for text in ax.texts if text.get_text().startswith("u =")}
    assert ends["u = −1.571"] == pytest.approx((1.0, 0.0), abs=1e-6)
    assert ends["u = 1.571"] == pytest.approx((0.0, 1.0), abs=1e-6)


def test_k_is_seen_where_the_curve_goes_the_same_way_beyond_it():
    lines = _lines(eq.plots.polar(eq.catalog.ldar))
    assert lines["K"].get_zorder() > lines["above K"].get_zorder()
    assert lines["K"].get_linewidth() < lines["above K"].get_linewidth()


def test_renders_and_shows_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("a plot must not show itself"))
    ax = eq.plots.polar(eq.catalog.lsgan(1.0, 0.0))
    ax.figure.savefig(tmp_path / "polar.png")
    assert (tmp_path / "polar.png").stat().st_size > 10_000


def test_the_function_keeps_its_name_beside_its_module():
    from equipoise.plots import polar as function
    from equipoise.plots.polar import polar as same

    assert function is same
    assert eq.plots.polar is same
