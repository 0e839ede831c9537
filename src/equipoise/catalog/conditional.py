"""Conditional densities and ratios (Table 6): methods that exist already, under a pairing that shuffles the condition.

    p_up / p_down = P_XY(X, Y) / (P_D(X)·P_Y(Y)) = P(X|Y) / P_D(X)            (Eq. CondPSOBalll, line 4322)

In the paper X is the target and Y the condition; log_base is the base at the target alone.
"""

from __future__ import annotations

from dataclasses import replace

from equipoise.catalog import estimands, pairings
from equipoise.catalog.critic import GAN_CRITIC
from equipoise.catalog.density import IMPORTANCE_SAMPLING, NCE, pso_lde
from equipoise.catalog.ratio import LOGISTIC
from equipoise.catalog.registry import get, register
from equipoise.instance import Instance, Reference

_PAPER = ("Kopitkov20arxiv",)
_CONDITIONAL = r"\mathbb{P}^U(X\,|\,Y)"
_GENERATED = r"\mathbb{P}^D_\phi(X\,|\,Y)"

_DENSITY = replace(estimands.DENSITY, name="conditional_density", words="the conditional density", tex=_CONDITIONAL)
_LOG_DENSITY = replace(
    estimands.LOG_DENSITY,
    name="conditional_log_density",
    words="the log of the conditional density",
    tex=rf"\log {_CONDITIONAL}",
)
_POSTERIOR = replace(
    estimands.POSTERIOR,
    name="conditional_posterior",
    words="the probability that a target is the data's, given its condition",
    tex=rf"\frac{{{_CONDITIONAL}}}{{{_CONDITIONAL} + {_GENERATED}}}",
)
_LOG_RATIO = replace(
    estimands.LOG_RATIO,
    name="conditional_log_ratio",
    words="the log ratio of the data's conditional density to the generator's",
    tex=rf"\log\frac{{{_CONDITIONAL}}}{{{_GENERATED}}}",
)

register(
    replace(
        get("deep_pdf"),
        name="conditional_density",
        estimand=_DENSITY,
        pairings=(pairings.CONDITIONAL,),
        reference=Reference((6,), "line 4393", _PAPER),
    )
)

register(
    replace(
        IMPORTANCE_SAMPLING,
        name="conditional_log_density",
        estimand=_LOG_DENSITY,
        pairings=(pairings.CONDITIONAL,),
        reference=Reference((6,), "line 4424", _PAPER),
    )
)

register(
    replace(
        NCE,
        name="conditional_nce",
        estimand=_LOG_DENSITY,
        pairings=(pairings.CONDITIONAL,),
        reference=Reference((6,), "line 4444", ("Mnih12arxiv", "Mnih13nips")),
    )
)


@register
def conditional_pso_lde(alpha: float = 0.25) -> Instance:
    """PSO-LDE for the log of a conditional density."""
    return replace(
        pso_lde(alpha),
        name="conditional_pso_lde",
        estimand=_LOG_DENSITY,
        pairings=(pairings.CONDITIONAL,),
        reference=Reference((6,), "line 4472", _PAPER),
    )


register(
    replace(
        GAN_CRITIC,
        name="conditional_gan",
        estimand=_POSTERIOR,
        pairings=(pairings.CONDITIONAL_GENERATED,),
        reference=Reference((6,), "line 4501", ("Mirza14arxiv",)),
    )
)

register(
    replace(
        LOGISTIC,
        name="likelihood_ratio_logistic",
        estimand=_LOG_RATIO,
        pairings=(pairings.CONDITIONAL_GENERATED,),
        reference=Reference((6,), "line 4538", _PAPER),
    )
)
