"""One of every surface that a model file can hold, each with the numbers of its own that make it bend."""

import torch

from equipoise.bases import Marginals
from equipoise.surfaces import (
    Additive,
    Affine,
    BlockDiagonal,
    FullyConnected,
    InRange,
    Kernel,
    OnScores,
    Quadratic,
    RandomFeatures,
    Standardise,
    Sum,
)

FEATURES = 3


def rows(n=200, seed=0, scale=1.0, features=FEATURES):
    return scale * torch.randn(n, features, generator=torch.Generator().manual_seed(seed))


def columns(n=300, **bounds):
    """Columns of three shapes: a normal one, a positive one, and one of heavy tails."""
    normal, gamma, cauchy = rows(n).double().T
    return Marginals(**bounds).fit(torch.stack([normal, torch.exp(gamma), cauchy / rows(n, 1)[:, 0]], dim=1)).columns


SURFACES = {
    "fully connected": lambda: FullyConnected(FEATURES, width=8, layers=2),
    "of every option": lambda: FullyConnected(
        FEATURES, 5, 3, 4, "leaky_relu", gain=2.5, slope=0.1, residual=True, layer_norm=True, dropout=0.3
    ),
    "block diagonal": lambda: BlockDiagonal(FEATURES, blocks=4, width=8, layers=3),
    "block diagonal, residual": lambda: BlockDiagonal(FEATURES, 2, 16, 4, residual=True, activation="silu", gain=2.0),
    "additive at quantiles": lambda: Additive.on_rows(rows(), 11),
    "additive at equal distances": lambda: Additive.on_rows(rows(), 11, at="equal"),
    "gaussian kernel": lambda: Kernel.on_rows(rows(), 20, seed=0),
    "laplacian kernel": lambda: Kernel.on_rows(rows(), 20, kind="laplacian", outputs=2, at="random", seed=0),
    "random features": lambda: RandomFeatures.on_rows(rows(), 30, seed=0),
    "random features of the laplacian": lambda: RandomFeatures(FEATURES, 30, 2.0, "laplacian", outputs=2, seed=0),
    "standardised": lambda: Standardise.to_rows(FullyConnected(FEATURES, 4, 1), rows(scale=30.0) + 5),
    "on scores": lambda: OnScores(FullyConnected(FEATURES, 4, 1, activation="silu"), columns()),
    "affine": lambda: Affine(FEATURES, 2),
    "quadratic": lambda: Quadratic(FEATURES),
    "sum": lambda: Sum(FullyConnected(FEATURES, 4, 1), Additive.on_rows(rows(), 5)),
    "half-line": lambda: InRange(FullyConnected(FEATURES, 4, 1), (0.0, float("inf"))),
    "bounded": lambda: InRange(FullyConnected(FEATURES, 4, 1, 2), (-0.5, 1.5), "arctan"),
    "nested": lambda: InRange(
        Standardise.to_rows(Sum(FullyConnected(FEATURES, 4, 1), Additive.on_rows(rows(), 5)), rows(scale=9.0)),
        (float("-inf"), 2.0),
    ),
}


def make(name, dtype=torch.float64, seed=1):
    """A surface of random weights, ready to score."""
    torch.manual_seed(seed)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        surface = SURFACES[name]().eval().to(dtype)  # what was fitted to rows comes in float64
    finally:
        torch.set_default_dtype(usual)
    with torch.no_grad():
        for parameter in surface.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape, dtype=torch.float64).to(dtype))
    return surface
