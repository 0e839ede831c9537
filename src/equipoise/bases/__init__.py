"""Down densities: fitted to data, sampled, and evaluated. A surface learns only what a base leaves over."""

from __future__ import annotations

from equipoise.bases.base import Base
from equipoise.bases.choice import BASES, as_base, choose
from equipoise.bases.gaussian import Gaussian
from equipoise.bases.gaussian_mixture import GaussianMixture
from equipoise.bases.rescaled import Rescaled
from equipoise.bases.uniform import Uniform

__all__ = ["BASES", "Base", "Gaussian", "GaussianMixture", "Rescaled", "Uniform", "as_base", "choose"]
