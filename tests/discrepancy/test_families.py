"""Families: the joint p-value is exact whatever was asked, and weights decide between families, not members."""

import numpy as np
import pytest
import torch
from scipy.stats import binom

from equipoise.discrepancy.comparison import Comparison
from equipoise.discrepancy.families import CHOICES, Family, ask, joined
from equipoise.discrepancy.relabelling import p_value


def rows(n, d, seed):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_every_choice_can_be_asked_of_any_number_of_columns(choice, d):
    answers = ask(Comparison(rows(40, d, 0), rows(30, d, 1) + 2.0, 99, 0), CHOICES[choice])
    assert p_value(joined(answers)) == 0.01
    for answer in answers:
        assert answer.strongest in answer.statistics
        assert all(statistic.values.shape == (100,) for statistic in answer.statistics)


@pytest.mark.parametrize(("n", "m", "d"), [(20, 20, 2), (12, 30, 6)])
def test_p_values_are_uniform_under_the_null(n, m, d):
    """300 null pairs: as many p-values below each share as a binomial allows, 1 in 10,000 on either side."""
    found = np.array(
        [
            p_value(joined(ask(Comparison(rows(n, d, 2 * s), rows(m, d, 2 * s + 1), 39, s), CHOICES["auto"])))
            for s in range(300)
        ]
    )
    for share in (0.05, 0.25, 0.5):
        count = (found <= share).sum()
        assert binom(300, share).ppf(0.0001) <= count <= binom(300, share).ppf(0.9999)


def test_a_family_s_weight_moves_the_answer_and_a_repeated_member_does_not():
    comparison = Comparison(rows(40, 2, 0), rows(40, 2, 1) + 0.3, 199, 0)
    shift, shape = CHOICES["auto"][0], CHOICES["auto"][1]
    plain = p_value(joined(ask(comparison, (shift, shape))))
    repeated = Family(shape.name, shape.weight, shape.members * 5)
    assert p_value(joined(ask(comparison, (shift, repeated)))) == pytest.approx(plain, abs=0.02)
    alone = p_value(joined(ask(comparison, (shift,))))
    heavy = Family(shift.name, 1e9, shift.members)
    assert p_value(joined(ask(comparison, (heavy, shape)))) == pytest.approx(alone, abs=1e-9)
