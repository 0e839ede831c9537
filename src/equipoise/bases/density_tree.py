"""A binned density whose resolution follows the rows: a Pólya tree that stops where a smooth density will do.

A node A of width w either stops, and takes the shape of one of several kernel densities g_j on A, or splits in halves:

    Φ(A) = Σ_j ρ_j·L_j(A) + (1 − ρ)·B(n_l + ½, n_r + ½)/B(½, ½)·Φ(A_l)·Φ(A_r),      L_j(A) = Π_{i ∈ A} g_j(x_i)/G_j(A)

with g_j(x_i) left one out. The posterior mean over all trees is a closed form, and so is its average over every shift
of the dyadic grid: node (i, w) is the left half of (i, 2w) and the right half of (i − w, 2w), so that one array per
width serves all shifts. Trees go deep at jumps only, and stop early where rows say nothing against a smooth piece.

References: Wong & Ma, "Optional Pólya tree and Bayesian inference" (2010); Coifman & Donoho, "Translation-invariant
de-noising" (1995) for the average over shifts.
"""

from __future__ import annotations

from math import lgamma, log
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

_PRIOR = 0.5  # Jeffreys' Beta(½, ½) on the share of a node's left half
_STOP = 0.5  # ρ: stopping and splitting are as likely before rows are seen
_NARROWEST = 8  # bins; a narrower node knows one shape only, the uniform


class _Level(NamedTuple):
    """What the way up leaves for the way down, at nodes (i, w), i = 1 − w … m − 1."""

    width: int
    stop: Tensor  # P(stop at shape j | rows)/G_j, (d, j, nodes)
    split: Tensor  # P(split | rows), (d, nodes)
    left: Tensor  # the left half's expected share, (d, nodes)


def tree_density(counts: Tensor, shapes: Tensor, held: Tensor) -> Tensor:
    """The posterior mean masses of m bins, m a power of two.

    Arguments:
        counts: Rows per bin, (d, m).
        shapes: Masses of the bins under the smooth densities a node may take, the last of them uniform, (d, j, m).
        held: The same with the row that is scored left out.

    Returns:
        Masses (d, m) that sum to one.
    """
    levels = _upwards(counts, shapes, counts.unsqueeze(1) * torch.log(held))
    mass = _downwards(levels, shapes)
    return mass / mass.sum(dim=1, keepdim=True)


def _upwards(counts: Tensor, shapes: Tensor, scores: Tensor) -> list[_Level]:
    """From single bins to the roots, two grids wide: the evidence Φ of every node."""
    m = counts.shape[1]
    evidence, inside = torch.zeros_like(counts), counts
    levels = []
    width = 2
    while width <= 2 * m:
        half = width // 2
        left, right = pad(inside, (half, 0)), pad(inside, (0, half))
        ways = torch.lgamma(inside + _PRIOR) + _HALF_BETA
        split = (
            pad(ways, (half, 0), value=_EMPTY)
            + pad(ways, (0, half), value=_EMPTY)
            - torch.lgamma(left + right + 2.0 * _PRIOR)
            + log(1.0 - _STOP)
            + pad(evidence, (half, 0))
            + pad(evidence, (0, half))
        )
        inside = left + right
        some = slice(None) if width >= _NARROWEST else slice(-1, None)
        share = _windows(shapes[:, some], width)
        stop = _windows(scores[:, some], width) - inside.unsqueeze(1) * torch.log(share) + log(_STOP / share.shape[1])
        evidence = torch.logaddexp(torch.logsumexp(stop, dim=1), split)
        stopped = torch.exp(stop - evidence.unsqueeze(1)) / share
        levels.append(_Level(width, stopped, torch.exp(split - evidence), (left + _PRIOR) / (inside + 2.0 * _PRIOR)))
        width *= 2
    return levels


_HALF_BETA = -0.5 * (2.0 * lgamma(_PRIOR) - lgamma(2.0 * _PRIOR))
_EMPTY = lgamma(_PRIOR) + _HALF_BETA


def _downwards(levels: list[_Level], shapes: Tensor) -> Tensor:
    """From the roots that hold the whole grid to single bins: where the mass stops, and as what shape."""
    m = shapes.shape[2]
    alive = torch.zeros_like(levels[-1].split)
    alive[:, m - 1 : 2 * m] = 1.0 / (m + 1)  # the starts −m … 0
    weight = torch.zeros_like(shapes)
    for level in reversed(levels):
        width, half = level.width, level.width // 2
        stopped = torch.cumsum(alive.unsqueeze(1) * level.stop, dim=2)  # node i covers the bins i … i + w − 1
        some = slice(None) if level.stop.shape[1] == shapes.shape[1] else slice(-1, None)
        weight[:, some] += stopped[..., width - 1 :] - pad(stopped, (1, 0))[..., :-width]
        going = alive * level.split
        left, right = going * level.left, going * (1.0 - level.left)
        alive = left[:, half:] + right[:, : right.shape[1] - half]
    return alive + (weight * shapes).sum(dim=1)


def _windows(values: Tensor, width: int) -> Tensor:
    """Sums over the windows (i, w), i = 1 − w … m − 1, of values (d, j, m)."""
    total = torch.cumsum(values, dim=2)
    last = total[..., -1:].expand(*total.shape[:-1], width - 1)
    return torch.cat([total, last], dim=2) - pad(total, (width, 0))[..., : total.shape[2] + width - 1]
