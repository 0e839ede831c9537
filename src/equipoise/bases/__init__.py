"""Down densities: fitted to data, sampled, and evaluated. A surface learns only what a base leaves over."""

from __future__ import annotations

from equipoise.bases.base import Base
from equipoise.bases.choice import BASES, as_base, candidates, choose
from equipoise.bases.copula import Copula, CopulaFlow, CopulaMixture
from equipoise.bases.flow import Flow
from equipoise.bases.gaussian import Gaussian
from equipoise.bases.gaussian_mixture import GaussianMixture
from equipoise.bases.independent import Independent
from equipoise.bases.kernel_density import KernelDensity
from equipoise.bases.marginals import Marginals
from equipoise.bases.mixture import Mixture
from equipoise.bases.rescaled import Rescaled
from equipoise.bases.stacking import Stack, prune, stack_weights
from equipoise.bases.uniform import Uniform

__all__ = [
    "BASES",
    "Base",
    "Copula",
    "CopulaFlow",
    "CopulaMixture",
    "Flow",
    "Gaussian",
    "GaussianMixture",
    "Independent",
    "KernelDensity",
    "Marginals",
    "Mixture",
    "Rescaled",
    "Stack",
    "Uniform",
    "as_base",
    "candidates",
    "choose",
    "prune",
    "stack_weights",
]
