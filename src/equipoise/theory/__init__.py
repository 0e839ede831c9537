"""What follows from two magnitudes, and which magnitudes follow from what is wanted.

derive(ratio=R, target=T)          a valid instance for the function wanted
bound(inst), cut_at(inst, ...)     the same balance with calmer forces
from_formulas("1", "exp(u)")       an instance typed by a reader
check(inst), consistent(a, b)      which theorem's condition holds or fails, and where
polar(inst), alone(inst)           the curve in the complex plane; one-sided ground
f_divergence, pso_divergence       what a loss says about the two densities, and about the surface
"""

from __future__ import annotations

from equipoise.theory.bounding import bound, cut_at, reverse_at
from equipoise.theory.conjugate import from_conjugate, to_conjugate
from equipoise.theory.derivation import derive
from equipoise.theory.divergence import f_divergence, pso_divergence, u_divergence
from equipoise.theory.feasibility import check, consistent
from equipoise.theory.polarity import polar
from equipoise.theory.support import alone
from equipoise.theory.written import from_formulas

__all__ = [
    "alone",
    "bound",
    "check",
    "consistent",
    "cut_at",
    "derive",
    "f_divergence",
    "from_conjugate",
    "from_formulas",
    "polar",
    "pso_divergence",
    "reverse_at",
    "to_conjugate",
    "u_divergence",
]
