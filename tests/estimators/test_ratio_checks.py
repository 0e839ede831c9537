"""The self-checks of a ratio: they say what is wrong, and nothing where nothing is."""

import torch

from equipoise import catalog
from equipoise.estimators.ratio_checks import Checks
from equipoise.ratios.score import LogRatios


def said(num, den):
    return Checks.of(LogRatios(num, den), catalog.logistic).sentences(bridged=False)


def test_rounding_is_no_imbalance():
    generator = torch.Generator().manual_seed(0)
    noise = 1e-17 * torch.randn(400, dtype=torch.float64, generator=generator)
    assert said(noise + 3e-16, noise) == []


def test_a_ratio_that_is_off_by_a_factor_is_said():
    generator = torch.Generator().manual_seed(0)
    num, den = (torch.randn(4000, dtype=torch.float64, generator=generator) for _ in range(2))
    right = num + 0.5, den - 0.5  # the log ratio of N(1, 1) to N(0, 1)
    assert said(*right) == []
    balance, mean = said(right[0] + 0.5, right[1] + 0.5)
    assert balance.startswith("The forces do not balance")
    assert mean.startswith("The mean ratio is not 1")
