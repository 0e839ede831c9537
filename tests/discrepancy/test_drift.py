"""Which columns differ: adjusted p-values against loops, effects that stay with their cause, and the family's level."""

import numpy as np
import pytest
import torch
from scipy.stats import binom, ks_2samp
from tests.asserts import assert_close

from equipoise.discrepancy.comparison import Comparison
from equipoise.discrepancy.drift import drift, gap, quartiles, step_down
from equipoise.discrepancy.given_others import Regression, given_others


def rows(n, d, seed):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def found(x, y, count=199, seed=0):
    columns = drift(Comparison(x, y, count, seed), x, y, [str(j) for j in range(x.shape[1])])
    return {column.position: column for column in columns}, columns


def test_step_down_is_westfall_and_young_s():
    values = torch.randn(50, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    values[0] = torch.tensor([2.5, 0.1, 3.0, 1.0])
    order, expected, least = [2, 0, 3, 1], {}, 0.0
    for k, j in enumerate(order):
        rest = order[k:]
        share = (1 + sum(bool(max(values[b, i] for i in rest) >= values[0, j]) for b in range(1, 50))) / 50
        least = max(least, share)
        expected[j] = least
    assert_close(step_down(values), torch.tensor([expected[j] for j in range(4)], dtype=torch.float64), absolute=1e-12)


def test_gaps_and_quartiles_are_scipy_s_and_numpy_s():
    x, y = rows(37, 1, 0)[:, 0].sort().values, (rows(22, 1, 1)[:, 0] + 0.4).sort().values
    assert gap(x, y) == pytest.approx(ks_2samp(x, y).statistic, abs=1e-12)
    assert quartiles(x) == pytest.approx(np.quantile(x, [0.25, 0.5, 0.75]), rel=1e-12)


def test_what_depends_on_a_column_that_shifts_differs_alone_but_not_given_it():
    x, y = rows(400, 4, 2), rows(400, 4, 3)
    y[:, 0] += 0.6
    for z in (x, y):
        z[:, 1] = z[:, 0].square() * 0.5 + z[:, 0] + 0.5 * z[:, 1]
    columns, ordered = found(x.exp(), y.exp())
    assert [columns[j].alone <= 0.05 for j in range(4)] == [True, True, False, False]
    assert [columns[j].given_others <= 0.05 for j in range(4)] == [True, False, False, False]
    assert {ordered[0].position, ordered[1].position} == {0, 1}
    assert columns[0].medians[1] > columns[0].medians[0]


def test_a_correlation_that_changes_shows_given_the_others_only():
    x, y = rows(300, 3, 0), rows(300, 3, 1)
    y[:, 1] = 0.6 * y[:, 0] + 0.8 * y[:, 1]
    columns, _ = found(x, y)
    assert [columns[j].alone <= 0.05 for j in range(3)] == [False, False, False]
    assert [columns[j].given_others <= 0.05 for j in range(3)] == [True, True, False]


def test_constant_columns_do_not_differ():
    x, y = rows(100, 3, 0), rows(100, 3, 1)
    x[:, 1] = y[:, 1] = 2.0
    columns, _ = found(x, y)
    assert (columns[1].alone, columns[1].given_others, columns[1].distance) == (1.0, 1.0, 0.0)


def test_too_few_rows_or_a_single_column_are_not_asked_given_others():
    assert given_others(rows(30, 10, 0), torch.arange(30) < 15, 19, 0) is None
    assert given_others(rows(30, 1, 0), torch.arange(30) < 15, 19, 0) is None
    assert given_others(rows(60, 10, 0), torch.arange(60) < 30, 19, 0).shape == (20, 10)


def test_a_regression_leaves_over_what_least_squares_does():
    x, target = rows(50, 3, 0) + 5.0, rows(50, 2, 1)
    design = torch.cat([torch.ones(50, 1).double(), x], dim=1)
    fit = design @ torch.linalg.lstsq(design, target).solution
    regression = Regression(x)
    assert_close(regression.left_over(target), target - fit, absolute=1e-4)
    hat = design @ torch.linalg.inv(design.T @ design) @ design.T
    assert_close(regression.leverage, hat.diagonal(), absolute=1e-4)


@pytest.mark.parametrize("d", [3, 12])
def test_some_column_is_found_in_equal_samples_at_the_level_only(d):
    """FWER at most the level: the number of false alarms in 120 null pairs stays below a 1-in-10,000 bound at 6 %."""
    alarms = np.zeros(2)
    for seed in range(120):
        _, columns = found(rows(60, d, 2 * seed), rows(60, d, 2 * seed + 1), 99, seed)
        alarms += [min(c.alone for c in columns) <= 0.05, min(c.given_others for c in columns) <= 0.05]
    assert alarms.max() <= binom(120, 0.06).ppf(0.9999)
