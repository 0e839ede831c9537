"""Pictures of a fitted ratio and of an information matrix: what is drawn is what is true, on the axes given."""

from types import SimpleNamespace

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.patches import StepPatch

import equipoise as eq
from equipoise.estimators.information_matrix import InformationMatrix
from equipoise.plots import held_out, information, overlap, reliability
from equipoise.plots.reliability import measure
from equipoise.plots.style import FAINT
from equipoise.ratios.score import LogRatios


@pytest.fixture(autouse=True)
def _closed(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("a picture must not show itself"))
    yield
    plt.close("all")


def gaussians(n=1500, m=1500, seed=0, factor=1.0, weights=(None, None)):
    """N(1, 1) against N(0, 1), whose log ratio is x − ½; times a factor that makes it wrong."""
    rng = np.random.default_rng(seed)
    num, den = rng.normal(1.0, 1.0, n) - 0.5, rng.normal(0.0, 1.0, m) - 0.5
    return known(factor * num, factor * den, *weights)


def known(num, den, *weights):
    given = [
        None if values is None else torch.as_tensor(values, dtype=torch.float64) for values in (num, den, *weights)
    ]
    return SimpleNamespace(unseen_=LogRatios(*given))


def _bars(ax, word):
    found = [p for p in ax.patches if isinstance(p, StepPatch) and p.get_label().startswith(word)]
    (patch,) = found
    return patch.get_label(), patch.get_data()


def test_the_bars_of_either_side_are_its_log_ratios():
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, 900)
    model = gaussians(900, 1200, weights=(weight, None))
    ax = overlap(model)
    for word, values, share in (
        ("numerator", model.unseen_.num.numpy(), weight),
        ("denominator", model.unseen_.den.numpy(), np.ones(1200)),
    ):
        label, bars = _bars(ax, word)
        expected = np.histogram(values, bins=bars.edges, weights=share, density=True)[0]
        np.testing.assert_allclose(bars.values, expected)
        assert (bars.values * np.diff(bars.edges)).sum() == pytest.approx(1.0)
        mean = f"{np.average(values, weights=share):.2f}".replace("-", "−")
        assert label == f"{word}, {len(values):,} rows, mean {mean}"


def test_a_tail_beyond_the_axis_is_said():
    num = np.append(np.random.default_rng(0).normal(size=199), 1e6)
    ax = overlap(known(num, num[:100]))
    assert "0.25 % of them beyond the axis" in ax.get_xlabel()
    assert ax.get_xlim()[1] < 100.0


@pytest.mark.parametrize("sizes", [(3000, 3000), (600, 6000)])
def test_a_right_ratio_lies_on_the_diagonal_and_a_wrong_one_beside_it(sizes):
    found = measure(gaussians(*sizes))
    assert len(found.observed) == 12
    assert found.astray <= 2 / 12
    for factor in (0.4, 2.5):
        assert measure(gaussians(*sizes, factor=factor)).astray >= 0.5


def test_intervals_cover_what_was_predicted_as_often_as_they_say():
    astray = [measure(gaussians(150, 450, seed=seed)).astray for seed in range(120)]
    assert 0.93 < 1.0 - np.mean(astray) < 0.99  # 1,440 bins at 95 %, on the safe side where a bin's rows are few


def test_a_row_of_weight_two_is_two_rows_but_for_what_it_leaves_open():
    rng = np.random.default_rng(2)
    num, den, twice = rng.normal(0.5, 1.0, 20), rng.normal(-0.5, 1.0, 12), np.arange(20) % 2 == 0
    weighted = measure(known(num, den, np.where(twice, 2.0, 1.0)))
    doubled = measure(known(np.concatenate([num, num[twice]]), den))
    assert weighted.predicted == pytest.approx(doubled.predicted)
    assert weighted.observed == pytest.approx(doubled.observed)
    assert weighted.low < doubled.low
    assert weighted.high > doubled.high


def test_rows_predicted_alike_stand_in_one_bin():
    found = measure(known(np.zeros(300), np.zeros(150)))
    assert (found.predicted.tolist(), found.observed.tolist()) == ([pytest.approx(0.5)], [pytest.approx(0.5)])
    halves = measure(known(np.repeat([0.0, 2.0], [100, 300]), np.repeat([0.0, 2.0], [300, 100])))
    np.testing.assert_allclose(halves.predicted, [0.5, 1.0 / (1.0 + np.exp(-2.0))])
    np.testing.assert_allclose(halves.observed, [0.25, 0.75])


def test_reliability_draws_its_bins_with_their_intervals():
    model = gaussians()
    found = measure(model)
    _, ax = plt.subplots()
    assert reliability(model, ax=ax) is ax
    (container,) = ax.containers
    points, _, (bars,) = container.lines
    np.testing.assert_allclose(points.get_xdata(), found.predicted)
    np.testing.assert_allclose(points.get_ydata(), found.observed)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, np.stack([found.low, found.high], axis=1))


def test_a_fitted_ratio_draws_itself_and_so_does_its_file(tmp_path):
    rng = np.random.default_rng(0)
    model = eq.DensityRatio(random_state=0, budget=0).fit(rng.normal(size=(300, 2)) + 1.0, rng.normal(size=(200, 2)))
    left, right = model.plot.held_out()
    assert (left.get_xlabel(), right.get_xlabel()) == (
        "log ratio of held-out rows",
        "predicted share of numerator rows",
    )
    left.figure.savefig(tmp_path / "ratio.png")
    assert (tmp_path / "ratio.png").stat().st_size > 5_000
    eq.save(model, tmp_path / "r.eqp")
    again = eq.load(tmp_path / "r.eqp").plot
    for drawn, own in ((again.overlap(), left), (held_out(model)[0], left)):
        np.testing.assert_allclose(_bars(drawn, "numerator")[1].values, _bars(own, "numerator")[1].values)
    np.testing.assert_allclose(
        again.reliability().containers[0].lines[0].get_ydata(), right.containers[0].lines[0].get_ydata()
    )


def matrix(d=3):
    values = np.arange(1.0, d * d + 1.0).reshape(d, d) / 10.0
    values = values + values.T
    values[0, 1] = values[1, 0] = -0.01
    np.fill_diagonal(values, np.nan)
    return InformationMatrix(values, np.full((d, d), 0.02), tuple(f"column ${i}$" for i in range(d)))


def test_the_heat_map_holds_the_values_and_writes_them_with_their_errors():
    found = matrix()
    _, ax = plt.subplots()
    assert information(found, ax=ax) is ax
    (image,) = ax.get_images()
    np.testing.assert_array_equal(image.get_array().filled(np.nan), found.values)
    texts = {t.get_position(): t for t in ax.texts}
    assert len(texts) == 6
    assert texts[2, 1].get_text() == f"{found.values[1, 2]:.3f}\n± 0.020"
    assert texts[1, 0].get_text() == "−0.010\n± 0.020"
    assert texts[1, 0].get_color() == FAINT != texts[2, 1].get_color()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["column $0$", "column $1$", "column $2$"]
    ax.figure.canvas.draw()


def test_a_large_heat_map_writes_no_numbers():
    ax = matrix(50).plot()
    assert not ax.texts
    assert len(ax.get_yticklabels()) == 25
    ax.figure.canvas.draw()


def test_a_matrix_of_nothing_is_drawn():
    nothing = np.where(np.eye(2) > 0, np.nan, 0.0)
    ax = InformationMatrix(nothing, 0.0 * nothing, ("a", "b")).plot()
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
