"""Critics: the losses of adversarial training and of variational f-divergences, and those that have no balance.

    f-divergence   M_up = 1,  M_down = φᶜ′(s),   T = φ′          (Claim PSO_FDiv_rel, line 2848)
    unit loss      M_up = M_down = 1:  forces that cannot adapt; what the pairing or the surface restricts decides

Without a balance, "what the surface learns" is what the restriction leaves of it.
"""

from __future__ import annotations

from math import inf, isfinite

import torch

from equipoise.catalog import estimands, pairings
from equipoise.catalog.generators import GENERATORS
from equipoise.catalog.parameter import number
from equipoise.catalog.registry import register
from equipoise.estimand import Estimand
from equipoise.instance import Instance, Printed, Reference
from equipoise.interval import POSITIVE, REALS

register(
    Instance(
        "unit",
        up=torch.ones_like,
        down=torch.ones_like,
        up_primitive=lambda u: u,
        down_primitive=lambda u: u,
        interval=REALS,
        target=lambda z: torch.sign(z - 1.0) * torch.inf,
        ratio=torch.ones_like,
        estimand=Estimand(
            "witness",
            "the Kantorovich potential or the RKHS witness, as the surface is restricted; ±∞ if it is not",
            r"\arg\max_{f \in \mathcal{F}} \mathbb{E}_U f - \mathbb{E}_D f",
        ),
        pairings=(pairings.TWO_SIDED, pairings.CONTRASTIVE_DIVERGENCE, pairings.WASSERSTEIN, pairings.MMD),
        printed=Printed("1", "1", loss_up="-f", loss_down="f"),
        reference=Reference(
            (3,),
            "line 1637, Eq. SimpleLoss (4969)",
            ("Villani08book", "Hinton02nc", "Arjovsky17arxiv", "Gretton07nips"),
        ),
    )
)


@register
def ebgan(margin: float = 1.0) -> Instance:
    """The energy critic of EBGAN, on a non-negative surface: M_up = −1, M_down = −1 up to the margin and 0 above."""
    margin = number(margin, "ebgan's margin")
    if not 0.0 < margin < inf:
        message = f"ebgan needs margin > 0, and finite, got {margin!r}"
        raise ValueError(message)
    return Instance(
        "ebgan",
        up=lambda u: torch.full_like(u, -1.0),
        down=lambda u: -(u <= margin).to(u.dtype),
        up_primitive=lambda u: -u,
        down_primitive=lambda u: -torch.clamp(u, max=margin),
        interval=POSITIVE,
        target=lambda z: torch.where(z < 1.0, margin, 0.0).to(z.dtype),
        ratio=lambda u: (u <= margin).to(u.dtype),
        estimand=Estimand(
            "energy",
            "the margin where the down density is the larger, 0 elsewhere",
            r"m\cdot\mathbb{1}[\mathbb{P}^U(X) < \mathbb{P}^D(X)]",
        ),
        parameters={"margin": margin},
        printed=Printed("-1", "-cut_at(f, margin)", loss_up="f", loss_down="max(margin - f, 0)"),
        reference=Reference((3,), "line 1655", ("Zhao16arxiv",)),
    )


@register
def hinge(margin: float = 1.0) -> Instance:
    """The hinge loss: unit forces that stop at the margin; the surface learns the sign of the log-ratio alone."""
    margin = number(margin, "hinge's margin")
    if not 0.0 < margin < inf:
        message = f"hinge needs margin > 0, and finite, got {margin!r}"
        raise ValueError(message)
    return Instance(
        "hinge",
        up=lambda u: (u < margin).to(u.dtype),
        down=lambda u: (u > -margin).to(u.dtype),
        up_primitive=lambda u: torch.clamp(u, max=margin),
        down_primitive=lambda u: torch.clamp(u, min=-margin),
        interval=REALS,
        target=lambda z: margin * torch.sign(z - 1.0),
        ratio=lambda u: (u > -margin).to(u.dtype) / (u < margin).to(u.dtype),
        estimand=Estimand(
            "sign",
            "which of the two densities is the larger, as ± the margin",
            r"m\cdot\operatorname{sign}(\mathbb{P}^U(X) - \mathbb{P}^D(X))",
        ),
        parameters={"margin": margin},
        reference=Reference((), "line 1152", ("Nguyen09aos",)),
    )


GAN_CRITIC = register(
    Instance(
        "gan_critic",
        up=lambda u: 1.0 / u,
        down=lambda u: 1.0 / (1.0 - u),
        up_primitive=lambda u: torch.log(torch.abs(u)),
        down_primitive=lambda u: -torch.log(torch.abs(1.0 - u)),
        estimand=estimands.POSTERIOR,
        printed=Printed("1/f", "1/(1 - f)", loss_up="-log(f)", loss_down="-log(1 - f)", interval="(0, 1)"),
        reference=Reference((3,), "line 1732", ("Goodfellow14nips",)),
    )
)

register(
    Instance(
        "gan_critic_log",
        up=lambda u: torch.exp(-u),
        down=lambda u: -1.0 / torch.expm1(u),
        up_primitive=lambda u: -torch.exp(-u),
        down_primitive=lambda u: torch.clamp(u, max=0.0) - torch.log(-torch.expm1(-torch.abs(u))),
        estimand=estimands.LOG_POSTERIOR,
        printed=Printed(
            "1/exp(f)",
            "1/(1 - exp(f))",
            loss_up="1/exp(f)",
            loss_down="-log(exp(f)/(1 - exp(f)))",
            interval="(-inf, 0)",
            erratum="the down term of the loss has the wrong sign: + E_D log(exp f / (1 − exp f)) belongs to M_down",
        ),
        reference=Reference((4,), "line 1831", ("Kopitkov20arxiv",)),
    )
)


@register
def lsgan(a: float = 0.0, b: float = 1.0) -> Instance:
    """The least-squares critic, labels b on up rows and a on down rows: M_up = b − f, M_down = f − a."""
    a, b = number(a, "lsgan's a"), number(b, "lsgan's b")
    if a == b or not (isfinite(a) and isfinite(b)):
        message = f"lsgan needs two different labels, both finite, got a = {a!r} and b = {b!r}"
        raise ValueError(message)
    return Instance(
        "lsgan",
        up=lambda u: b - u,
        down=lambda u: u - a,
        up_primitive=lambda u: -0.5 * (u - b) ** 2,
        down_primitive=lambda u: 0.5 * (u - a) ** 2,
        estimand=estimands.between(a, b),
        parameters={"a": a, "b": b},
        printed=Printed(
            "b - f", "f - a", loss_up="(f - b)**2/2", loss_down="(f - a)**2/2", interval="(min(a, b), max(a, b))"
        ),
        reference=Reference((5,), "line 2040", ("Mao17iccv",)),
    )


@register
def f_divergence(kind: str = "js") -> Instance:
    """The variational form of an f-divergence: M_up = 1 and M_down = φᶜ′(s).

    Arguments:
        kind: ``kl``, ``reverse_kl``, ``js``, ``gan``, ``pearson``, ``neyman``, ``hellinger`` or ``total_variation``.
    """
    if not isinstance(kind, str) or kind not in GENERATORS:
        message = f"kind must be one of {', '.join(GENERATORS)}, got {kind!r}"
        raise ValueError(message)
    generator = GENERATORS[kind]
    return Instance(
        "f_divergence",
        up=torch.ones_like,
        down=generator.conjugate_slope,
        up_primitive=lambda u: u,
        down_primitive=generator.conjugate,
        estimand=Estimand(
            "f_divergence_slope",
            f"φ′ of the density ratio, whose loss is minus {generator.words}",
            r"\phi'\big(\mathbb{P}^U(X)/\mathbb{P}^D(X)\big)",
            target=generator.slope,
            ratio=generator.conjugate_slope,
            interval=generator.interval,
        ),
        parameters={"kind": kind},
        reference=Reference((), "Claim PSO_FDiv_rel (2848)", ("Nguyen10tit", "Nowozin16nips")),
    )
