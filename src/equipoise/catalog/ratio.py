"""Density ratios and functions of them from two samples: Tables 3, 4 and 5 but for the GAN critics.

    R = M_down / M_up,    z = R(u)    and no base is needed: f = u

Whatever bounds the magnitudes keeps the optimisation calm where one of the two densities is nearly absent.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from equipoise.catalog import estimands, pairings
from equipoise.catalog.parameter import number
from equipoise.catalog.registry import register
from equipoise.catalog.stable import softplus, tail
from equipoise.instance import Instance, Printed, Reference

_PAPER = ("Kopitkov20arxiv",)


register(
    Instance(
        "ulsif",
        up=torch.ones_like,
        down=lambda u: u,
        up_primitive=lambda u: u,
        down_primitive=lambda u: 0.5 * u**2,
        estimand=estimands.RATIO,
        printed=Printed("1", "f", loss_up="-f", loss_down="f**2/2", interval="(0, inf)"),
        reference=Reference(
            (3,),
            "line 1685",
            ("Kanamori09mlr", "Yamada11nips", "Sugiyama12book", "Nam15toias", "Uehara16"),
        ),
    )
)

register(
    Instance(
        "kliep",
        up=lambda u: 1.0 / u,
        down=torch.ones_like,
        up_primitive=lambda u: torch.log(torch.abs(u)),
        down_primitive=lambda u: u - 1.0,
        estimand=estimands.RATIO,
        printed=Printed("1/f", "1", loss_up="-log(f)", loss_down="f - 1", interval="(0, inf)"),
        reference=Reference((3,), "line 1712", ("Sugiyama08aism", "Sugiyama12aism", "Uehara16")),
    )
)

register(
    Instance(
        "ndmr",
        up=torch.ones_like,
        down=lambda u: 2.0 * u,
        up_primitive=lambda u: u,
        down_primitive=lambda u: u**2,
        estimand=estimands.MIXTURE_POSTERIOR,
        pairings=(pairings.MIXTURE,),
        printed=Printed(
            "1",
            "2*f",
            loss_up="-f",
            loss_down="f**2",
            interval="(0, 1)",
            erratum="K = (0, 1) is what the mixture can reach; by Theorem 1137 K is (0, ∞), the range of T(z) = z/2.",
        ),
        reference=Reference((3,), "line 1761", _PAPER),
    )
)

register(
    Instance(
        "ndmlr",
        up=torch.ones_like,
        down=lambda u: 2.0 * torch.exp(u),
        up_primitive=lambda u: u,
        down_primitive=lambda u: 2.0 * torch.exp(u),
        estimand=estimands.MIXTURE_LOG_POSTERIOR,
        pairings=(pairings.MIXTURE,),
        printed=Printed(
            "1",
            "2*exp(f)",
            loss_up="-f",
            loss_down="2*exp(f)",
            interval="(-inf, 0)",
            erratum="K = ℝ<0 is what the mixture can reach; by Theorem 1137 K is ℝ, the range of T(z) = log(z/2).",
        ),
        reference=Reference((3,), "line 1786", _PAPER),
    )
)


@register
def power_divergence(alpha: float = 0.5) -> Instance:
    """Power-divergence ratio estimation: M_up = f^(α−1), M_down = f^α; alpha = 1 is uLSIF and alpha → 0 is KLIEP."""
    alpha = number(alpha, "power_divergence's alpha")
    if not 0.0 < alpha < inf:
        message = f"power_divergence needs 0 < alpha < inf, got {alpha!r}; alpha = 0 is 'kliep', -1 'reversed_kl'"
        raise ValueError(message)

    def power(u: Tensor, exponent: float) -> Tensor:
        return torch.clamp(u, min=0.0) ** exponent

    return Instance(
        "power_divergence",
        up=lambda u: power(u, alpha - 1.0),
        down=lambda u: power(u, alpha),
        up_primitive=lambda u: power(u, alpha) / alpha,
        down_primitive=lambda u: power(u, alpha + 1.0) / (alpha + 1.0),
        estimand=estimands.RATIO,
        parameters={"alpha": alpha},
        printed=Printed(
            "f**(alpha - 1)",
            "f**alpha",
            loss_up="-f**alpha/alpha",
            loss_down="f**(alpha + 1)/(alpha + 1)",
            interval="(0, inf)",
        ),
        reference=Reference((4,), "line 1854", ("Sugiyama12aism", "Menon16icml")),
    )


register(
    Instance(
        "reversed_kl",
        up=lambda u: 1.0 / u**2,
        down=lambda u: 1.0 / u,
        up_primitive=lambda u: -1.0 / u,
        down_primitive=lambda u: torch.log(torch.abs(u)),
        estimand=estimands.RATIO,
        printed=Printed("1/f**2", "1/f", loss_up="1/f", loss_down="log(f)", interval="(0, inf)"),
        reference=Reference((4,), "line 1877", ("Uehara16",)),
    )
)

register(
    Instance(
        "balanced_ratio",
        up=lambda u: 1.0 / (u + 1.0),
        down=lambda u: u / (u + 1.0),
        up_primitive=lambda u: torch.log(torch.abs(u + 1.0)),
        down_primitive=lambda u: u - torch.log(torch.abs(u + 1.0)),
        estimand=estimands.RATIO,
        printed=Printed(
            "1/(f + 1)",
            "f/(f + 1)",
            loss_up="-log(f + 1)",
            loss_down="f - log(f + 1)",
            interval="(0, inf)",
        ),
        reference=Reference((4,), "line 1902", _PAPER),
    )
)

register(
    Instance(
        "log_ratio",
        up=torch.ones_like,
        down=torch.exp,
        up_primitive=lambda u: u,
        down_primitive=torch.exp,
        estimand=estimands.LOG_RATIO,
        printed=Printed("1", "exp(f)", loss_up="-f", loss_down="exp(f)", interval="(-inf, inf)"),
        reference=Reference((4,), "line 1929", _PAPER),
    )
)

register(
    Instance(
        "square",
        up=lambda u: 1.0 - u,
        down=lambda u: 1.0 + u,
        up_primitive=lambda u: -0.5 * (1.0 - u) ** 2,
        down_primitive=lambda u: 0.5 * (1.0 + u) ** 2,
        estimand=estimands.CONTRAST,
        printed=Printed("1 - f", "1 + f", loss_up="(1 - f)**2/2", loss_down="(1 + f)**2/2", interval="(-1, 1)"),
        reference=Reference((4,), "line 1950", ("Menon16icml",)),
    )
)

LOGISTIC = register(
    Instance(
        "logistic",
        up=lambda u: torch.sigmoid(-u),
        down=torch.sigmoid,
        up_primitive=lambda u: -softplus(-u),
        down_primitive=softplus,
        estimand=estimands.LOG_RATIO,
        printed=Printed(
            "1/(exp(f) + 1)",
            "1/(exp(-f) + 1)",
            loss_up="log(1 + exp(-f))",
            loss_down="log(1 + exp(f))",
            interval="(-inf, inf)",
        ),
        reference=Reference((4,), "line 1973", ("Menon16icml",)),
    )
)

register(
    Instance(
        "exponential",
        up=lambda u: torch.exp(-u),
        down=torch.exp,
        up_primitive=lambda u: -torch.exp(-u),
        down_primitive=torch.exp,
        estimand=estimands.HALF_LOG_RATIO,
        printed=Printed("exp(-f)", "exp(f)", loss_up="exp(-f)", loss_down="exp(f)", interval="(-inf, inf)"),
        reference=Reference((5,), "line 2018", ("Menon16icml",)),
    )
)

register(
    Instance(
        "kl_divergence",
        up=torch.ones_like,
        down=lambda u: torch.exp(u - 1.0),
        up_primitive=lambda u: u,
        down_primitive=lambda u: torch.exp(u - 1.0),
        estimand=estimands.SHIFTED_LOG_RATIO,
        printed=Printed("1", "exp(f - 1)", loss_up="-f", loss_down="exp(f - 1)", interval="(-inf, inf)"),
        reference=Reference((5,), "line 2066", ("Nowozin16nips",)),
    )
)

register(
    Instance(
        "reverse_kl_divergence",
        up=torch.ones_like,
        down=lambda u: -1.0 / u,
        up_primitive=lambda u: u,
        down_primitive=lambda u: -1.0 - torch.log(torch.abs(u)),
        estimand=estimands.NEGATIVE_INVERSE_RATIO,
        printed=Printed("1", "1/(-f)", loss_up="-f", loss_down="-1 - log(-f)", interval="(-inf, 0)"),
        reference=Reference((5,), "line 2087", ("Nowozin16nips",)),
    )
)


register(
    Instance(
        "lipschitz",
        up=tail,
        down=lambda u: tail(-u),
        up_primitive=lambda u: u - torch.hypot(u, torch.ones_like(u)),
        down_primitive=lambda u: u + torch.hypot(u, torch.ones_like(u)),
        estimand=estimands.SINH_HALF_LOG_RATIO,
        printed=Printed(
            "1 - f/sqrt(f**2 + 1)",
            "1 + f/sqrt(f**2 + 1)",
            loss_up="-(f - sqrt(f**2 + 1))",
            loss_down="f + sqrt(f**2 + 1)",
            interval="(-inf, inf)",
        ),
        reference=Reference((5,), "line 2108", ("Zhou18arxiv",)),
    )
)

register(
    Instance(
        "ldar",
        up=lambda u: torch.sigmoid(-torch.tan(u)),
        down=lambda u: torch.sigmoid(torch.tan(u)),
        estimand=estimands.ATAN_LOG_RATIO,
        printed=Printed("1/(exp(tan(f)) + 1)", "1/(exp(-tan(f)) + 1)", interval="(-pi/2, pi/2)"),
        reference=Reference((5,), "line 2142, Example 3 (2273)", _PAPER),
    )
)

# Outside of K the paper's square roots are not defined. Zero continues them, and the other force leads back into K.
register(
    Instance(
        "ldtr",
        up=lambda u: torch.sqrt(torch.clamp(1.0 - u, min=0.0)),
        down=lambda u: torch.sqrt(torch.clamp(1.0 + u, min=0.0)),
        up_primitive=lambda u: -2.0 / 3.0 * torch.clamp(1.0 - u, min=0.0) ** 1.5,
        down_primitive=lambda u: 2.0 / 3.0 * torch.clamp(1.0 + u, min=0.0) ** 1.5,
        estimand=estimands.TANH_LOG_RATIO,
        printed=Printed(
            "sqrt(1 - f)",
            "sqrt(1 + f)",
            loss_up="2/3*(1 - f)**(3/2)",
            loss_down="2/3*(1 + f)**(3/2)",
            interval="(-1, 1)",
        ),
        reference=Reference((5,), "line 2167", _PAPER),
    )
)
