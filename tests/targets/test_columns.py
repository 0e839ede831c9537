"""Columns and Transformed Columns: the paper's formula, and its matrix."""

import itertools
import math

import pytest
import torch
from scipy import integrate, stats

from equipoise.targets import Columns, TransformedColumns

PARTS = [
    stats.uniform(-2.3, 0.6),
    stats.norm(-1.0, 0.2),
    stats.norm(0.0, 0.2),
    stats.norm(1.0, 0.2),
    stats.uniform(1.7, 0.6),
]


def density(x):
    return sum(0.2 * part.pdf(x) for part in PARTS)


def distribution(x):
    return sum(0.2 * part.cdf(x) for part in PARTS)


def sample(target, n=20_000):
    return target.sample(n, torch.Generator().manual_seed(0), torch.float64)


def test_one_column_is_the_papers_formula():
    x = torch.linspace(-3.0, 3.0, 1_001, dtype=torch.float64)
    torch.testing.assert_close(Columns(1).log_prob(x.unsqueeze(1)).exp(), torch.from_numpy(density(x.numpy())))


def test_one_column_integrates_to_one():
    edges = [-6.0, -2.3, -1.7, 1.7, 2.3, 6.0]
    column = Columns(1)
    parts = [
        integrate.quad(lambda x: column.log_prob([[x]]).exp().item(), a, b, limit=200, epsabs=1e-11)[0]
        for a, b in itertools.pairwise(edges)
    ]
    assert abs(sum(parts) - 1.0) < 1e-9


def test_columns_are_independent_and_alike():
    rows = sample(Columns(20))
    apart = sum(Columns(1).log_prob(rows[:, [i]]) for i in range(20))
    torch.testing.assert_close(Columns(20).log_prob(rows), apart)
    correlation = torch.corrcoef(rows.T) - torch.eye(20)
    assert correlation.abs().max() < 5 / math.sqrt(len(rows))


@pytest.mark.parametrize("column", [0, 7, 19])
def test_rows_follow_the_distribution_function(column):
    assert stats.kstest(sample(Columns())[:, column].numpy(), distribution).pvalue > 0.001


def test_edges_belong_to_the_outer_modes():
    at = Columns(1).log_prob([[-2.3], [2.3], [-2.3001], [2.3001]])
    assert at[0] > math.log(0.2 / 0.6)
    assert at[2] < -15.0


def test_the_matrix_was_copied_without_an_error():
    """One wrong digit among 400 numbers breaks orthogonality, which the printed matrix has to 1e-9."""
    matrix = TransformedColumns().matrix
    assert matrix.shape == (20, 20)
    assert (matrix @ matrix.T - torch.eye(20)).abs().max() < 2e-9
    assert abs(torch.linalg.det(matrix).item() - 1.0) < 1e-9


def test_transformed_columns_are_columns_behind_the_matrix():
    target = TransformedColumns()
    rows = sample(target)
    behind = torch.linalg.solve(target.matrix, rows.T).T
    torch.testing.assert_close(target.unmix(rows), behind)
    torch.testing.assert_close(target.log_prob(rows), Columns().log_prob(behind), rtol=1e-8, atol=1e-8)
    assert stats.kstest(behind[:, 3].numpy(), distribution).pvalue > 0.001


def test_transformed_columns_hide_their_dependence_from_covariances():
    rows = sample(TransformedColumns())
    covariance = torch.cov(rows.T)
    variance = covariance.diagonal().mean()
    assert (covariance / variance - torch.eye(20)).abs().max() < 6 / math.sqrt(len(rows))
    squares = torch.corrcoef((rows**2).T) - torch.eye(20)
    assert squares.abs().max() > 8 / math.sqrt(len(rows))


def test_the_number_of_columns_is_checked():
    with pytest.raises(ValueError, match="dim must be at least 1, got 0"):
        Columns(0)
