"""The kernel discrepancy is what one push with unit magnitudes does to a Kernel surface."""

import pytest
import torch
from tests.asserts import assert_close

import equipoise as eq
from equipoise.discrepancy import kernel_statistics
from equipoise.discrepancy.comparison import Comparison
from equipoise.discrepancy.kernel_statistics import energy, kernel_gap
from equipoise.surfaces import Kernel

KINDS = pytest.mark.parametrize("kind", ["gaussian", "laplacian"])


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def rows(n, d=2, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def compared(n=30, m=25, shift=0.6, count=50):
    return Comparison(rows(n), rows(m, seed=1) + shift, count, 0)


def push_once(comparison, kind, width):
    """A surface on all pooled rows, pushed once with unit magnitudes by all of them, and how long the step was."""
    pooled = comparison.pooled
    seen = pooled.whitened(pooled.scores)
    surface, length = Kernel(seen, width, kind), 1e-3
    up, down = seen[pooled.truth], seen[~pooled.truth]
    step = {"steps": 1, "n_up": len(up), "n_down": len(down), "schedule": "constant", "seed": 0}
    optimizer = torch.optim.SGD(surface.parameters(), lr=length)
    eq.push(surface, "unit", eq.Pair(up, down), optimizer=optimizer, learning_rate=length, **step)
    return surface, length


@KINDS
def test_the_witness_is_what_one_unit_push_moves_a_kernel_surface_by(kind):
    comparison = compared()
    statistic = kernel_gap(comparison, kind, 0.5)
    surface, length = push_once(comparison, kind, 0.5 * comparison.median(white=True))
    scores = comparison.pooled.scores
    moved = surface(comparison.pooled.whitened(scores)).detach() / length
    assert_close(statistic.witness(scores), moved, absolute=1e-6)


@KINDS
def test_the_statistic_is_the_gap_that_the_push_opens(kind):
    comparison = compared()
    surface, length = push_once(comparison, kind, 0.5 * comparison.median(white=True))
    u = surface(comparison.pooled.whitened(comparison.pooled.scores)).detach() / length
    truth = comparison.pooled.truth
    gap = u[truth].mean() - u[~truth].mean()
    assert float(kernel_gap(comparison, kind, 0.5).values[0]) == pytest.approx(float(gap), rel=1e-5)


@KINDS
def test_every_labelling_gives_the_textbook_sum(kind):
    comparison = compared(9, 7, count=5)
    seen = comparison.pooled.whitened(comparison.pooled.scores)
    apart = torch.cdist(seen, seen) / (0.5 * comparison.median(white=True))
    gram = torch.exp(-0.5 * apart.square()) if kind == "gaussian" else torch.exp(-apart)
    found = kernel_gap(comparison, kind, 0.5).values
    for called, value in zip(comparison.labels.called, found, strict=True):
        x, y = called.nonzero()[:, 0], (~called).nonzero()[:, 0]
        expected = gram[x][:, x].mean() + gram[y][:, y].mean() - 2.0 * gram[x][:, y].mean()
        assert float(value) == pytest.approx(float(expected), abs=1e-9)


def test_energy_is_near_the_energy_distance():
    comparison = compared()
    scores, truth = comparison.pooled.scores, comparison.pooled.truth
    x, y = scores[truth], scores[~truth]
    distance = 2.0 * torch.cdist(x, y).mean() - torch.cdist(x, x).mean() - torch.cdist(y, y).mean()
    found = energy(comparison).values[0] * 10.0 * comparison.median(white=False)
    assert float(found) == pytest.approx(float(distance), rel=0.15)


@KINDS
def test_centres_for_all_rows_come_near_to_the_exact_statistic(monkeypatch, kind):
    comparison = compared(150, 120)
    exact = kernel_gap(comparison, kind, 1.0)
    monkeypatch.setattr(kernel_statistics, "MOST_EXACT", 10)
    few = kernel_gap(comparison, kind, 1.0)
    assert float(torch.corrcoef(torch.stack([exact.values, few.values]))[0, 1]) > 0.99
    scores = comparison.pooled.scores
    assert float(torch.corrcoef(torch.stack([exact.witness(scores), few.witness(scores)]))[0, 1]) > 0.99
    truth = comparison.pooled.truth
    u = few.witness(scores)
    assert float(u[truth].mean() - u[~truth].mean()) == pytest.approx(float(few.values[0]), rel=1e-3)
