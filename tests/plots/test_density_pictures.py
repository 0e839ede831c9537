"""Pictures of a fitted density: what is drawn is what is true, on the axes that were given."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch
from scipy import stats
from tests.known import Known, normal, record, rows

import equipoise as eq
from equipoise.plots import calibration, history, marginals, pair
from equipoise.plots.accessor import Plotter
from equipoise.plots.calibration import compare, measure
from equipoise.plots.dependence import most_dependent, mutual_information
from equipoise.plots.marginals import compare as compare_marginals
from equipoise.plots.regions import Field, exact, of_samples


@pytest.fixture(autouse=True)
def _closed(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("a picture must not show itself"))
    yield
    plt.close("all")


def _stairs(ax, label):
    (patch,) = [p for p in ax.patches if isinstance(p, StepPatch) and p.get_label().endswith(label)]
    return patch.get_data()


def _line(ax, label):
    (line,) = [x for x in ax.get_lines() if x.get_label() == label]
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def test_the_rows_bars_integrate_to_one_and_the_models_line_is_its_density():
    model = normal(1)
    X = rows(model, 3000)
    ax = marginals(model, X)
    assert isinstance(ax, Axes)
    bars = _stairs(ax, "rows")
    assert (bars.values * np.diff(bars.edges)).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(bars.values, np.histogram(X[:, 0], bins=bars.edges, density=True)[0])
    x, y = _line(ax, "model")
    np.testing.assert_allclose(y, stats.norm.pdf(x))
    assert ax.get_ylabel() == "density"
    assert "3,000 rows" in [t.get_text() for t in ax.get_legend().get_texts()]


def test_the_band_is_where_binomial_bars_fall():
    model = normal(1)
    X = rows(model, 2000)
    ax = marginals(model, X)
    (patch,) = [p for p in ax.patches if isinstance(p, StepPatch) and p.get_label().startswith("95 %")]
    high, edges, low = patch.get_data()
    p = np.diff(stats.norm.cdf(edges))
    inside = stats.binom.cdf(np.round(high * np.diff(edges) * 2000), 2000, p) - stats.binom.cdf(
        np.round(low * np.diff(edges) * 2000) - 1, 2000, p
    )
    assert (inside > 0.945).all()
    assert (inside[p > 0.02] < 0.985).all()
    (marginal,) = compare_marginals(model, X)
    assert marginal.astray < 0.15
    (shifted,) = compare_marginals(model, X + 0.5)
    assert shifted.astray > 0.4
    assert len(_line(marginals(model, X + 0.5), "bars outside")[0]) == round(shifted.astray * len(shifted.model))
    assert shifted.distance == pytest.approx(stats.norm.cdf(0.25) * 2 - 1, abs=0.05)  # total variation


def test_several_columns_share_a_grid_and_come_from_one_draw_of_samples():
    model = normal(3, names=["a", "b", "c"])
    X = rows(model, 1000)
    model.drawn = 0
    axes = marginals(model, X)
    assert axes.shape == (3,)
    assert [ax.get_xlabel().split("\n")[0] for ax in axes] == ["a", "b", "c"]
    assert model.drawn == 20_000
    samples = model.sample(20_000, random_state=0)
    for i, ax in enumerate(axes):
        drawn = _stairs(ax, "model")
        np.testing.assert_allclose(
            drawn.values, np.histogram(samples[:, i], bins=drawn.edges)[0] / 2e4 / np.diff(drawn.edges)
        )


def test_of_many_columns_the_worst_are_shown():
    model = normal(15)
    X = rows(model, 500)
    X[:, 14] += 10.0
    axes = marginals(model, X)
    assert len(axes) == 12
    assert axes[0].get_xlabel().startswith("column 14")
    assert "12 of 15 columns" in axes[0].figure.get_supxlabel()
    assert len(marginals(model)) == 12


def test_columns_are_chosen_by_name_and_position():
    model = normal(3, names=["a", "b", "c"])
    _, ax = plt.subplots()
    assert marginals(model, columns="b", ax=ax) is ax
    assert ax.get_xlabel() == "b"
    assert [a.get_xlabel() for a in marginals(model, columns=["c", 0])] == ["c", "a"]
    for columns, words in (
        (["a", 0], "must be different"),
        ("d", "no column 'd': the model has a, b, c"),
        (3, "no column 3"),
        ([], "different"),
    ):
        with pytest.raises(ValueError, match=words):
            marginals(model, columns=columns)
    with pytest.raises(ValueError, match="one ax holds one column, and there are 3"):
        marginals(model, ax=ax)


def test_rows_are_matched_by_name():
    model = normal(2, names=["a", "b"])
    X = rows(model, 400)
    turned = pd.DataFrame(X[:, ::-1], columns=["b", "a"])
    for one, other in zip(compare_marginals(model, X), compare_marginals(model, turned), strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
    with pytest.raises(ValueError, match="X has 3 columns, and the model has 2"):
        marginals(model, np.ones((5, 3)))
    with pytest.raises(ValueError, match="no column 'a'"):
        marginals(model, pd.DataFrame(X, columns=["b", "c"]))


def test_integers_are_bars_at_the_integers():
    model = Known(stats.poisson(2.0), stats.norm())
    X = rows(model, 2000)
    ax = marginals(model, X, columns=0)
    share = np.bincount(X[:, 0].astype(int)) / 2000
    bars = [p for p in ax.patches if p.get_facecolor()[:3] != ax.patches[-1].get_facecolor()[:3]]
    np.testing.assert_allclose([p.get_height() for p in bars], share, atol=1e-12)
    np.testing.assert_allclose([p.get_x() + p.get_width() / 2 for p in bars], np.arange(len(share)))
    pair(model, X)


def test_what_lies_beyond_the_axis_is_said():
    model = Known(stats.cauchy())
    ax = marginals(model, rows(model, 5000))
    assert "% beyond the axis" in ax.get_xlabel()


def test_names_are_taken_literally():
    odd = ["$\\frac{", "<script>", "_x", "a" * 80, "tab\tname"]
    model = normal(5, names=odd)
    axes = marginals(model, rows(model, 100))
    axes[0].figure.canvas.draw()  # a name read as mathematics would not parse
    said = [ax.get_xlabel() for ax in axes]
    assert said[:3] == odd[:3]
    assert len(said[3]) < 30
    assert said[4] == "tab\N{REPLACEMENT CHARACTER}name"
    pair(model, columns=[0, 1]).figure.canvas.draw()


def _normal_field(size=300):
    grid = np.linspace(-5.0, 5.0, size)
    return exact(normal(2), grid, np.linspace(-9.0, 11.0, size))


def test_regions_hold_the_shares_they_say():
    shares = np.array([0.1, 0.5, 0.9, 0.99])
    heights = _normal_field().thresholds(shares)
    np.testing.assert_allclose(heights, (1.0 - shares) / (2.0 * np.pi * 2.0), rtol=0.02)  # of a normal, exactly


def test_an_exact_density_on_a_grid_is_the_density():
    field = _normal_field(40)
    x, y = field.x[7], field.y[31]
    assert field.density[31, 7] == pytest.approx(stats.norm.pdf(x) * stats.norm.pdf(y, 1.0, 2.0))


def test_a_smoothed_histogram_is_near_the_density_and_claims_no_more_than_it_saw():
    model = normal(3)
    samples = model.sample(200_000, random_state=0)
    edges = np.linspace(-6.0, 8.0, 73)
    field = of_samples(samples[:, 0], samples[:, 1], edges, edges)
    truth = np.outer(stats.norm.pdf(field.y, 1.0, 2.0), stats.norm.pdf(field.x))
    cell = (edges[1] - edges[0]) ** 2
    assert np.abs(field.density - truth).sum() * cell < 0.08
    inside = np.mean((np.abs(samples[:, :2] - 1.0) < 7.0).all(axis=1))
    assert field.density.sum() * cell == pytest.approx(inside, abs=2e-3)


def test_a_share_that_lies_beyond_the_grid_takes_the_lowest_height():
    field = Field(np.arange(3.0), np.arange(2.0), np.full((2, 3), 0.1))
    assert field.thresholds(np.array([0.5, 0.99])).tolist() == [0.1, 0.1]


def test_a_pair_is_drawn_on_the_axes_given():
    model = normal(2, names=["east", "north"])
    _, ax = plt.subplots()
    assert pair(model, rows(model, 50), ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")
    x, y = _line(ax, "rows")
    np.testing.assert_array_equal(np.column_stack([x, y]), rows(model, 50))
    turned = pair(model, rows(model, 50), columns=["north", "east"])
    assert turned.get_xlabel() == "north"
    np.testing.assert_array_equal(_line(turned, "rows")[0], rows(model, 50)[:, 1])


def test_a_turned_pair_shows_the_turned_density():
    from equipoise.plots.regions import field

    model = normal(2)
    samples = model.sample(5000, random_state=0)
    straight, turned = field(model, samples, None, (0, 1)), field(model, samples, None, (1, 0))
    np.testing.assert_allclose(turned.density, straight.density.T, rtol=1e-10)
    np.testing.assert_array_equal(turned.x, straight.y)


def test_several_columns_are_pairs_below_a_diagonal_of_marginals():
    model = normal(6)
    axes = pair(model, rows(model, 300))
    assert axes.shape == (4, 4)
    assert not axes[0, 3].get_visible()
    assert _stairs(axes[2, 2], "model").values.max() > 0.0
    assert "4 of 6 columns" in axes[0, 0].figure.get_supxlabel()
    chosen = pair(model, columns=[5, 0, 2])
    assert [chosen[2, j].get_xlabel() for j in range(3)] == ["column 5", "column 0", "column 2"]


def test_pairs_that_cannot_be_drawn_are_refused():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"the model has one: plot\.marginals\(\)"):
        pair(normal(1))
    with pytest.raises(ValueError, match="an ax holds a pair, got 3 columns"):
        pair(normal(3), columns=[0, 1, 2], ax=ax)
    with pytest.raises(ValueError, match="a pair needs two columns, got 1 columns"):
        pair(normal(3), columns=[1])


def test_dependent_columns_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 7))
    X[:, 5] = X[:, 1] ** 2 + 0.1 * rng.normal(size=4000)  # uncorrelated, and dependent
    X[:, 3] = X[:, 5] + rng.normal(size=4000)
    assert most_dependent(X, 3) == [1, 3, 5]
    assert most_dependent(X, 9) == list(range(7))
    information = mutual_information(X)
    np.testing.assert_allclose(information, information.T)
    assert information[1, 5] > 0.5
    assert information[0, 2] < 0.02


def test_calibration_of_the_truth_lies_in_the_band():
    model = normal(2)
    misses = [measure(model, rows(model, 500, seed)).astray for seed in range(1, 21)]
    assert np.mean(misses) < 0.06
    wide = Known(stats.norm(0.0, 1.5), stats.norm(1.0, 3.0))
    assert measure(model, rows(wide, 500)).astray > 0.9


def test_calibration_draws_the_quantiles():
    model = normal(2)
    X = rows(model, 1000)
    _, ax = plt.subplots()
    assert calibration(model, X, ax=ax) is ax
    x, y = _line(ax, "1,000 rows")
    levels = (np.arange(199) + 0.5) / 199
    own = model.score_samples(model.sample(20_000, random_state=0))
    np.testing.assert_allclose(x, np.quantile(own, levels, method="hazen"), rtol=1e-9)
    np.testing.assert_allclose(y, np.quantile(model.score_samples(X), levels, method="inverted_cdf"), atol=0.02)
    assert ax.get_xlim() == ax.get_ylim()


def test_calibration_counts_impossible_rows():
    scores = np.array([-1.0, -2.0, -np.inf, -np.inf])
    found = compare(scores, np.linspace(-3.0, 0.0, 100))
    assert (found.n, found.impossible, found.mean) == (4, 2, -1.5)
    assert found.se == pytest.approx(0.5)
    assert found.own_mean == pytest.approx(-1.5)
    model = Known(stats.uniform())
    ax = calibration(model, [[0.5], [0.2], [3.0]])
    assert any("of rows below the axis" in text.get_text() for text in ax.texts)


def test_history_draws_the_record():
    model = normal(1, history_=record())
    left, right = history(model)
    x, y = _line(left, "held-out gain")
    assert (x.tolist(), y.tolist()) == (record().scored[:5], record().score[:5])  # what is infinite is left out
    assert _line(left, "best, at step 100")[1] == [0.5]
    assert _line(right, "up: mean force at the rows")[1].tolist() == record().up_force
    assert _line(right, "down: mean force at the base")[1].tolist() == record().down_force
    _, ax = plt.subplots()
    assert history(record(), ax=ax) is ax


@pytest.mark.parametrize("attributes", [{}, {"history_": None}, {"history_": record(0)}])
def test_where_nothing_was_pushed_the_history_says_so(attributes):
    ax = history(normal(1, **attributes))
    assert "No surface was pushed" in ax.texts[0].get_text()


def test_a_fitted_density_draws_itself(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 2))
    model = eq.Density(random_state=0, budget=60).fit(X)
    plot = model.plot
    assert isinstance(plot, Plotter)
    for name, picture in (
        ("marginals", plot.marginals(X)[0]),
        ("pair", plot.pair(X)),
        ("calibration", plot.calibration(X)),
        ("history", np.ravel(plot.history())[0]),
    ):
        picture.figure.savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
    field = exact(model, np.linspace(-6.0, 6.0, 120), np.linspace(-6.0, 6.0, 120))
    assert field.density.sum() * (12.0 / 119) ** 2 == pytest.approx(1.0, abs=0.05)
