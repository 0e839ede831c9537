"""Mixtures of bases: the sum of the parts, sampled in their shares, saved with them."""

import numpy as np
import pytest
import torch
from tests.asserts import assert_close

from equipoise.bases import Gaussian, Marginals, Mixture, Uniform

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(300, 2))


def mixture(weights=(1.0, 3.0)):
    return Mixture([Gaussian().fit(ROWS - 9.0), Marginals().fit(ROWS + 9.0)], weights)


def test_the_density_is_the_sum_of_the_parts():
    base = mixture()
    x = torch.from_numpy(RANDOM.normal(scale=8.0, size=(100, 2)))
    expected = 0.25 * base.parts[0].log_prob(x).exp() + 0.75 * base.parts[1].log_prob(x).exp()
    assert_close(base.log_prob(x).exp(), expected, relative=1e-9)


def test_rows_are_drawn_in_the_parts_shares():
    """Within five standard errors."""
    drawn = mixture().sample(20_000, torch.Generator().manual_seed(0), torch.float32)
    assert drawn.dtype == torch.float32
    assert (drawn.sum(dim=1) > 0.0).double().mean().item() == pytest.approx(0.75, abs=5.0 * (0.1875 / 20_000) ** 0.5)


def test_a_part_without_weight_is_not_there():
    base = Mixture([Uniform([0.0], [1.0]), Uniform([5.0], [6.0])], [1.0, 0.0])
    assert base.log_prob([[0.5], [5.5]]).tolist() == [0.0, -np.inf]
    assert [end.tolist() for end in base.support] == [[0.0], [1.0]]
    both = Mixture([Uniform([0.0], [1.0]), Uniform([5.0], [6.0])])
    assert [end.tolist() for end in both.support] == [[0.0], [6.0]]


def test_the_state_rebuilds_the_mixture():
    base = mixture()
    again = Mixture([Gaussian(), Marginals()]).load_state(base.state())
    x = torch.from_numpy(ROWS)
    assert torch.equal(again.log_prob(x), base.log_prob(x))
    assert again.features == 2


def test_fitting_fits_all_parts():
    base = Mixture([Gaussian(), Marginals()])
    assert not base.is_fitted
    base.fit(ROWS, np.arange(300.0))
    assert_close(base.parts[0].mean_, Gaussian().fit(ROWS, np.arange(300.0)).mean_)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -0.1], [0.0, 0.0], [[1.0, 1.0]]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="2 non-negative numbers, one per part"):
        Mixture([Gaussian(), Gaussian()], weights)


def test_a_mixture_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one part"):
        Mixture([])
