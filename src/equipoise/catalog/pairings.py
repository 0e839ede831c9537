"""How the catalogue's methods sample their two sides.

z = p_up / p_down   is always the ratio of what a pairing samples
"""

from __future__ import annotations

from equipoise.pairing import TWO_SIDED, Pairing

__all__ = [
    "CONDITIONAL",
    "CONDITIONAL_GENERATED",
    "CONTRASTIVE_DIVERGENCE",
    "CONVOLVED",
    "LABELLED",
    "MIXTURE",
    "MMD",
    "TWO_LABELS",
    "TWO_SIDED",
    "WASSERSTEIN",
]

MIXTURE = Pairing(
    "mixture",
    down=r"\tfrac12\mathbb{P}^U(X) + \tfrac12\mathbb{P}^D(X)",
    words="down rows come from the even mixture of both densities, so that z stays below 2",
    z_high=2.0,
    place="line 2433",
)

CONVOLVED = Pairing(
    "convolved",
    up=r"[\mathbb{P}^U * \mathbb{P}^\upsilon](X)",
    words="noise is added to every up row; the surface learns the convolved density",
    place="line 5516",
)

CONDITIONAL = Pairing(
    "conditional",
    up=r"\mathbb{P}^U_{XY}(X, Y)",
    down=r"\mathbb{P}^D(X)\cdot\mathbb{P}^U_Y(Y)",
    words="down rows keep a condition Y of the data and draw the target X from a known base; log_base is the base at X",
    place="line 4317",
)

CONDITIONAL_GENERATED = Pairing(
    "conditional generated",
    up=r"\mathbb{P}^U_{XY}(X, Y)",
    down=r"\mathbb{P}^D_\phi(X\,|\,Y)\cdot\mathbb{P}^U_Y(Y)",
    words="down rows keep a condition Y of the data and draw the target X from a generator that sees Y",
    place="line 4618",
)

TWO_LABELS = Pairing(
    "two labels",
    up=r"\mathbb{P}(X\,|\,Y=1)",
    down=r"\mathbb{P}(X\,|\,Y=0)",
    words="rows of label 1 push up, rows of label 0 push down",
    place="line 4728",
)

LABELLED = Pairing(
    "labelled",
    up=r"\mathbb{P}(X\,|\,Y=j)",
    down=r"\mathbb{P}(X\,|\,Y\neq j)",
    words="one labelled batch: for surface j, rows of class j push up and all others push down",
    place="line 9163",
)

CONTRASTIVE_DIVERGENCE = Pairing(
    "contrastive divergence",
    down=r"\exp f_\theta(X) / \int \exp f_\theta",
    words="down rows are sampled from the model itself, which moves until exp f is proportional to the up density",
    place="line 4999",
)

WASSERSTEIN = Pairing(
    "Wasserstein critic",
    words="the surface is kept 1-Lipschitz: it becomes the Kantorovich potential, its loss minus the distance",
    place="line 5015",
)

MMD = Pairing(
    "maximum mean discrepancy",
    words="the surface is kept in the ball of an RKHS: it becomes the witness, and its loss minus the discrepancy",
    place="line 5038",
)
