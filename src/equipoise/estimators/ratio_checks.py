"""What must hold of a log ratio, and how nearly it does, on rows it has not seen.

    E_num M_up(u) = E_den M_down(u)      the forces balance            E_den r = 1,  E_num 1/r = 1

and whether the samples overlap: (Σ r)²/Σ r² rows of the denominator carry the weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import Self

import torch
from torch import Tensor

from equipoise.bases.stacking import weighted_mean
from equipoise.instance import Instance
from equipoise.ratios.divergence import KINDS
from equipoise.ratios.over import height_at
from equipoise.ratios.score import LogRatios

_FEWEST = 30.0  # rows that must carry the weight for a mean of ratios to mean anything
_DEVIATIONS = 4.0
_ROUNDING = 1e-9  # where the ratio is 1 everywhere, both a mean's distance and its error are rounding


@dataclass(frozen=True)
class Checks:
    """The self-checks of a ratio.

    Arguments:
        facts: ``balance`` (E_num M_up − E_den M_down), ``mean_ratio`` (E_den r) and ``mean_inverse`` (E_num 1/r), each
            with its value, its standard error, and what it should be.
        effective: How many rows of the denominator carry its weight.
        effective_num: How many of the numerator carry it the other way.
    """

    facts: dict[str, dict[str, float]]
    effective: float
    effective_num: float

    @classmethod
    def of(cls, at: LogRatios, instance: Instance) -> Self:
        """Look at log ratios of rows that were not seen."""
        heights = [height_at(instance, side.double()) for side in (at.num, at.den)]
        up, up_se = weighted_mean(instance.up(heights[0]), at.num_weight)
        down, down_se = weighted_mean(instance.down(heights[1]), at.den_weight)
        ratio = weighted_mean(_exp(at.den), at.den_weight)
        inverse = weighted_mean(_exp(-at.num), at.num_weight)
        facts = {
            "balance": {"value": up - down, "se": hypot(up_se, down_se), "should_be": 0.0},
            "mean_ratio": {"value": ratio[0], "se": ratio[1], "should_be": 1.0},
            "mean_inverse": {"value": inverse[0], "se": inverse[1], "should_be": 1.0},
        }
        shares = at.shares
        return cls(facts, _effective(at.den, shares[1]), _effective(-at.num, shares[0]))

    @property
    def overlaps(self) -> bool:
        """Whether rows of either side are found where the other's are."""
        return min(self.effective, self.effective_num) >= _FEWEST

    @property
    def reaches(self) -> dict[str, bool]:
        """For each divergence that averages r or 1/r, whether enough rows carry that mean."""
        enough = {1: self.effective >= _FEWEST, -1: self.effective_num >= _FEWEST, 0: True}
        return {name: enough[kind.weighs] for name, kind in KINDS.items()}

    def sentences(self, bridged: bool) -> list[str]:
        """What a user should know."""
        said = []
        if not self.overlaps:
            how = "a bridge of densities between them was tried" if bridged else "no bridge was tried between them"
            said.append(
                f"The samples hardly overlap: {self.effective:.0f} rows of the denominator and "
                f"{self.effective_num:.0f} of the numerator would carry the other's weight. "
                f"Log ratios rest on how they go on between the samples; {how}."
            )
            return said
        for name, words in (("balance", "The forces do not balance"), ("mean_ratio", "The mean ratio is not 1")):
            fact = self.facts[name]
            if abs(fact["value"] - fact["should_be"]) > max(_DEVIATIONS * fact["se"], _ROUNDING) and fact["se"] > 0.0:
                said.append(f"{words} on rows that were not seen: {fact['value']:.3g} ± {fact['se']:.2g}.")
        return said


def _exp(log_ratio: Tensor) -> Tensor:
    return torch.exp(log_ratio.double().clamp(max=700.0))


def _effective(log_ratio: Tensor, share: Tensor) -> float:
    """(Σ w)²/Σ w² of weights w = share·r, among as many rows as there are."""
    log_weight = log_ratio.double() + torch.log(share)
    return float(torch.exp(2.0 * torch.logsumexp(log_weight, dim=0) - torch.logsumexp(2.0 * log_weight, dim=0)))
