"""Densities from samples and a known base: Tables 1 and 2, MLE and the Bregman family.

    R(u) = exp u  in every log-density method,   R(u) = u  in every density method    (u relative to the base)

In heights f these are the paper's f = u + log p and f = u·p, with p the base density.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import torch
from torch import Tensor

from equipoise.catalog import estimands, pairings
from equipoise.catalog.generators import Potential, Scalar, potential
from equipoise.catalog.parameter import number
from equipoise.catalog.registry import register
from equipoise.catalog.stable import softplus
from equipoise.instance import DERIVE, Instance, Printed, Reference

_CLOSED_FORMS_UP_TO = 64


register(
    Instance(
        "deep_pdf",
        up=lambda u, log_base: torch.exp(2.0 * log_base).expand_as(u),
        down=lambda u, log_base: torch.where(u == 0, 0.0, u * torch.exp(2.0 * log_base)),
        up_primitive=lambda u, log_base: u * torch.exp(2.0 * log_base),
        down_primitive=lambda u, log_base: 0.5 * u**2 * torch.exp(2.0 * log_base),
        estimand=estimands.DENSITY,
        printed=Printed("p", "f", loss_up="-f*p", loss_down="f**2/2", interval="(0, inf)"),
        reference=Reference((1,), "line 1312, Eq. PDFLoss (3830)", ("Baird05ijcnn", "Kopitkov18arxiv")),
    )
)


@register
def pso_lde(alpha: float = 0.25) -> Instance:
    """PSO log-density estimators: M_up = [exp(αu) + 1]^(−1/α), M_down = [exp(−αu) + 1]^(−1/α).

    Small alpha: all magnitudes are smaller, 2^(−1/α) where z = 1, and relative to that they fall off more slowly, in
    the limit as exp(∓u/2). NCE is alpha = 1, PSO-MAX the limit of large alpha. The loss has a closed form where 1/alpha
    is an integer m: with v = exp(αu), M̃_up = (1/α)·[log(v/(1+v)) + Σ_{k=1}^{m−1} 1/(k·(1+v)^k)].
    """
    alpha = number(alpha, "pso_lde's alpha")
    if not 0.0 < alpha < inf:
        message = f"pso_lde needs 0 < alpha < inf (the paper uses 1/4; the limit is 'pso_max'), got {alpha!r}"
        raise ValueError(message)
    whole = round(1.0 / alpha)
    closed = abs(1.0 / alpha - whole) < 1e-9 and 1 <= whole <= _CLOSED_FORMS_UP_TO

    def up(u: Tensor) -> Tensor:
        return torch.exp(-softplus(alpha * u) / alpha)

    def up_primitive(u: Tensor) -> Tensor:
        decay = torch.sigmoid(-alpha * u)  # 1/(1+v)
        terms = sum(((decay**k) / k for k in range(1, whole)), start=torch.zeros_like(u))
        return (terms - softplus(-alpha * u)) / alpha

    return Instance(
        "pso_lde",
        up=up,
        down=lambda u: up(-u),
        up_primitive=up_primitive if closed else DERIVE,
        down_primitive=(lambda u: -up_primitive(-u)) if closed else DERIVE,
        estimand=estimands.LOG_DENSITY,
        parameters={"alpha": alpha},
        printed=Printed(
            "p/(exp(f)**alpha + p**alpha)**(1/alpha)",
            "exp(f)/(exp(f)**alpha + p**alpha)**(1/alpha)",
            interval="(-inf, inf)",
        ),
        reference=Reference((1,), "line 1332, Eqs. PSOLDELossMU, PSOLDELossMD (4132)", ("Kopitkov20arxiv",)),
    )


register(
    Instance(
        "pso_max",
        up=lambda u: torch.exp(-torch.clamp(u, min=0.0)),
        down=lambda u: torch.exp(torch.clamp(u, max=0.0)),
        up_primitive=lambda u: torch.clamp(u, max=0.0) - torch.expm1(-torch.clamp(u, min=0.0)),
        down_primitive=lambda u: torch.clamp(u, min=0.0) + torch.exp(torch.clamp(u, max=0.0)),
        estimand=estimands.LOG_DENSITY,
        printed=Printed("exp(-max(f - log(p), 0))", "exp(min(f - log(p), 0))", interval="(-inf, inf)"),
        reference=Reference((1,), "line 1362", ("Kopitkov20arxiv",)),
    )
)

NCE = register(
    Instance(
        "nce",
        up=lambda u: torch.sigmoid(-u),
        down=torch.sigmoid,
        up_primitive=lambda u: -softplus(-u),
        down_primitive=softplus,
        estimand=estimands.LOG_DENSITY,
        printed=Printed(
            "p/(exp(f) + p)",
            "exp(f)/(exp(f) + p)",
            loss_up="log((exp(f) + p)/exp(f))",
            loss_down="log((exp(f) + p)/p)",
            interval="(-inf, inf)",
        ),
        reference=Reference(
            (1,),
            "line 1405",
            ("Smith05acl", "Gutmann10aistats", "Pihlaja12arxiv", "Mnih12arxiv", "Mnih13nips", "Gutmann12jmlr"),
        ),
    )
)

IMPORTANCE_SAMPLING = register(
    Instance(
        "importance_sampling",
        up=torch.ones_like,
        down=torch.exp,
        up_primitive=lambda u: u,
        down_primitive=torch.exp,
        estimand=estimands.LOG_DENSITY,
        printed=Printed("1", "exp(f)/p", loss_up="-f", loss_down="exp(f)/p", interval="(-inf, inf)"),
        reference=Reference((1,), "line 1446", ("Pihlaja12arxiv",)),
    )
)

register(
    Instance(
        "polynomial",
        up=torch.exp,
        down=lambda u: torch.exp(2.0 * u),
        up_primitive=torch.exp,
        down_primitive=lambda u: 0.5 * torch.exp(2.0 * u),
        estimand=estimands.LOG_DENSITY,
        printed=Printed(
            "exp(f)/p",
            "exp(2*f)/p**2",
            loss_up="-exp(f)/p",
            loss_down="exp(2*f)/p**2/2",
            interval="(-inf, inf)",
        ),
        reference=Reference((2,), "line 1484", ("Pihlaja12arxiv",)),
    )
)

register(
    Instance(
        "inverse_polynomial",
        up=lambda u: torch.exp(-2.0 * u),
        down=lambda u: torch.exp(-u),
        up_primitive=lambda u: -0.5 * torch.exp(-2.0 * u),
        down_primitive=lambda u: -torch.exp(-u),
        estimand=estimands.LOG_DENSITY,
        printed=Printed(
            "p**2/exp(2*f)",
            "p/exp(f)",
            loss_up="p**2/exp(2*f)/2",
            loss_down="-p/exp(f)",
            interval="(-inf, inf)",
        ),
        reference=Reference((2,), "line 1507", ("Pihlaja12arxiv",)),
    )
)

INVERSE_IMPORTANCE_SAMPLING = register(
    Instance(
        "inverse_importance_sampling",
        up=lambda u: torch.exp(-u),
        down=torch.ones_like,
        up_primitive=lambda u: -torch.exp(-u),
        down_primitive=lambda u: u,
        estimand=estimands.LOG_DENSITY,
        printed=Printed("p/exp(f)", "1", loss_up="p/exp(f)", loss_down="f", interval="(-inf, inf)"),
        reference=Reference((2,), "line 1532", ("Pihlaja12arxiv",)),
    )
)


@register
def root_density(degree: float = 2) -> Instance:
    """The degree-th root of a density: in heights f, M_up = p and M_down = |f|^d·sign f."""
    degree = number(degree, "root_density's degree")
    if not 1.0 <= degree < inf:
        message = f"root_density needs 1 <= degree < inf, got {degree!r}"
        raise ValueError(message)

    def power(u: Tensor, log_base: Tensor, exponent: float) -> Tensor:
        return torch.exp(exponent * torch.log(torch.abs(u)) + (1.0 + 1.0 / degree) * log_base)

    return Instance(
        "root_density",
        up=lambda u, log_base: power(torch.ones_like(u), log_base, 0.0),
        down=lambda u, log_base: torch.sign(u) * power(u, log_base, degree),
        up_primitive=lambda u, log_base: u * torch.exp((1.0 + 1.0 / degree) * log_base),
        down_primitive=lambda u, log_base: power(u, log_base, degree + 1.0) / (degree + 1.0),
        estimand=estimands.root_density(degree),
        parameters={"degree": degree},
        printed=Printed(
            "p",
            "abs(f)**degree*sign(f)",
            loss_up="-f*p",
            loss_down="abs(f)**(degree + 1)/(degree + 1)",
            interval="(0, inf)",
        ),
        reference=Reference((2,), "line 1555", ("Kopitkov20arxiv",)),
    )


register(
    replace(
        IMPORTANCE_SAMPLING,
        name="pdf_convolution",
        estimand=replace(
            estimands.LOG_DENSITY,
            name="log_convolved_density",
            words="the log of the up density convolved with the noise's",
            tex=r"\log\big[[\mathbb{P}^U * \mathbb{P}^\upsilon](X)\big]",
        ),
        pairings=(pairings.CONVOLVED,),
        reference=Reference((2,), "line 1582", ("Kopitkov20arxiv",)),
    )
)

register(
    Instance(
        "mle",
        up=lambda u: 1.0 / u,
        down=torch.ones_like,
        up_primitive=lambda u: torch.log(torch.abs(u)),
        down_primitive=lambda u: u,
        estimand=estimands.DENSITY,
        printed=Printed("1/f", "1/p", loss_up="-(1 + log(f))", loss_down="f/p", interval="(0, inf)"),
        reference=Reference((), "Eq. MLE_PSO_loss_MagnFuncs (4894)", ("Kopitkov20arxiv",)),
    )
)


@register
def bregman_density(phi: str | Potential | Scalar = "kl") -> Instance:
    """The separable Bregman family: in heights f, M_up = φ″(f) and M_down = f·φ″(f)/p.

    Arguments:
        phi: ``"kl"``, ``"squared"``, ``"itakura_saito"``, or any strictly convex function of one tensor.
    """
    convex = potential(phi)

    def base(log_base: Tensor) -> Tensor:
        return torch.clamp(torch.exp(log_base), min=torch.finfo(log_base.dtype).tiny)

    def height(u: Tensor, log_base: Tensor) -> Tensor:
        largest = torch.finfo(u.dtype).max
        return torch.clamp(u * base(log_base), -largest, largest)

    def down(u: Tensor, log_base: Tensor) -> Tensor:
        f = height(u, log_base)
        return torch.where(f == 0, torch.zeros_like(f), f * convex.curvature(torch.where(f == 0, 1.0, f)))

    return Instance(
        "bregman_density",
        up=lambda u, log_base: base(log_base) * convex.curvature(height(u, log_base)),
        down=down,
        up_primitive=lambda u, log_base: convex.slope(height(u, log_base)),
        down_primitive=lambda u, log_base: _legendre(convex, height(u, log_base)) / base(log_base),
        estimand=estimands.DENSITY,
        parameters={"phi": phi},
        reference=Reference((), "Claim PSO_Bregman_rel (2707)", ("Eguchi09book", "Grunwald04aos")),
    )


def _legendre(convex: Potential, f: Tensor) -> Tensor:
    moment = torch.where(f == 0, 0.0, f * convex.slope(torch.where(f == 0, 1.0, f)))
    return moment - convex.phi(f)
