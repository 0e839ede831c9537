"""Cross-entropy as PSO: the forces of two classes on one surface, and of C classes on C surfaces at once.

    binary     M_up = P(Y=1)/(1 + exp f),   M_down = P(Y=0)·exp f/(1 + exp f)                     (line 4742)
    softmax    M_up,j = P(Y=j)·(‖e^f‖₁ − e^{f_j})/‖e^f‖_p,   M_down,j = P(Y≠j)·e^{f_j}/‖e^f‖_p     (line 9279)

The norm p only bounds the magnitudes; every norm has the same balance (line 9554), and p = 1 is cross-entropy.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from equipoise.batch import Batch
from equipoise.catalog import estimands, pairings
from equipoise.catalog.parameter import number
from equipoise.catalog.registry import register
from equipoise.estimand import Estimand
from equipoise.instance import DERIVE, Instance, Printed, Reference
from equipoise.interval import REALS


@register
def binary_cross_entropy(prior: float = 0.5) -> Instance:
    """Binary cross-entropy on logits; ``prior`` is P(Y=1), the share of up rows among all rows."""
    prior = number(prior, "binary_cross_entropy's prior")
    if not 0.0 < prior < 1.0:
        message = f"binary_cross_entropy needs 0 < prior < 1, got {prior!r}"
        raise ValueError(message)
    return Instance(
        "binary_cross_entropy",
        up=lambda u: prior * torch.sigmoid(-u),
        down=lambda u: (1.0 - prior) * torch.sigmoid(u),
        up_primitive=lambda u: -prior * torch.logaddexp(-u, torch.zeros_like(u)),
        down_primitive=lambda u: (1.0 - prior) * torch.logaddexp(u, torch.zeros_like(u)),
        estimand=estimands.log_odds(prior),
        pairings=(pairings.TWO_LABELS,),
        parameters={"prior": prior},
        printed=Printed(
            "prior/(1 + exp(f))",
            "(1 - prior)*exp(f)/(1 + exp(f))",
            loss_up="-prior*log(sigmoid(f))",
            loss_down="-(1 - prior)*log(1 - sigmoid(f))",
            interval="(-inf, inf)",
        ),
        reference=Reference((), "Eq. CEBMagnFuncs (4742)", ("Kopitkov20arxiv",)),
    )


@register
def softmax_cross_entropy(norm: float = 1.0) -> Instance:
    """Softmax cross-entropy over C surfaces, with any L-p norm in the denominator of its magnitudes.

    Magnitudes act on the last axis of u and leave the class priors to :meth:`Instance.forces`, which takes them from
    the batch's labels, where they cancel against the class sizes. With C surfaces |M_up| is at most (C − 1)^(1 − 1/p)
    and |M_down| at most 1.
    """
    norm = number(norm, "softmax_cross_entropy's norm")
    if not norm >= 1.0:
        message = f"softmax_cross_entropy needs norm >= 1 (inf is allowed), got {norm!r}"
        raise ValueError(message)

    def up(u: Tensor) -> Tensor:
        return _others(u) * _one_norm_over(u, norm)

    def down(u: Tensor) -> Tensor:
        return torch.softmax(u, dim=-1) * _one_norm_over(u, norm)

    return Instance(
        "softmax_cross_entropy",
        up=up,
        down=down,
        interval=REALS,
        up_primitive=_own_log_probability if norm == 1.0 else DERIVE,
        down_primitive=_minus_log_of_the_others if norm == 1.0 else DERIVE,
        target=torch.log,
        ratio=lambda u: torch.softmax(u, dim=-1) / _others(u),
        estimand=Estimand(
            "class_log_probabilities",
            "the log probability of each class given the row, up to a constant per row",
            r"\log\mathbb{P}(Y=j\,|\,X) + c(X)",
        ),
        pairings=(pairings.LABELLED,),
        force_rule=labelled_forces,
        parameters={"norm": norm},
        reference=Reference((), "Eqs. CEMagnFuncsMU11, CEMagnFuncsMD11 (9279), line 9554", ("Kopitkov20arxiv",)),
    )


def labelled_forces(instance: Instance, u: Tensor, batch: Batch) -> Tensor:
    """Forces of one labelled batch on C surfaces, (n, C): −M_up/n on a row's own class, +M_down/n on all others.

    The prior of class j is N_j/N and its mean runs over N_j rows, so that every row weighs 1/N whatever its class.
    """
    if batch.labels is None:
        message = f"{instance.label} needs labels: draw from sources.Labelled(X, y)"
        raise ValueError(message)
    if u.dim() != 2 or u.shape[1] < 2:
        message = f"{instance.label} needs a surface of one output per class, (n, C) with C >= 2; got {tuple(u.shape)}"
        raise ValueError(message)
    own = torch.zeros_like(u, dtype=torch.bool).scatter_(1, batch.labels.unsqueeze(1), value=True)
    weights = torch.where(own, -instance.up(u), instance.down(u))
    if batch.weight is None:
        return weights / u.shape[0]
    return weights * (batch.weight / batch.weight.sum()).unsqueeze(1)


def _own_log_probability(u: Tensor) -> Tensor:
    return torch.log_softmax(u, dim=-1)


def _minus_log_of_the_others(u: Tensor) -> Tensor:
    """−log(1 − softmax); of the largest, whose softmax rounds to 1, as the log of a sum over the others."""
    top = u.argmax(dim=-1, keepdim=True)
    share = torch.softmax(u, dim=-1).scatter(-1, top, 0.0)
    others = torch.logsumexp(u.scatter(-1, top, -torch.inf), dim=-1, keepdim=True)
    return (-torch.log1p(-share)).scatter(-1, top, torch.logsumexp(u, dim=-1, keepdim=True) - others)


def _others(u: Tensor) -> Tensor:
    """One minus softmax, summed over the other classes where one minus would cancel: at the largest."""
    share = torch.softmax(u, dim=-1)
    top = share.argmax(dim=-1, keepdim=True)
    rest = share.scatter(-1, top, 0.0).sum(dim=-1, keepdim=True)
    return (1.0 - share).scatter(-1, top, rest)


def _one_norm_over(u: Tensor, norm: float) -> Tensor:
    """‖e^u‖₁ / ‖e^u‖_p along the last axis, in logarithms."""
    if norm == 1.0:
        return torch.ones_like(u[..., :1])
    below = u - u.amax(dim=-1, keepdim=True)  # at most 0, so that neither norm overflows or loses digits
    log_one = torch.logsumexp(below, dim=-1, keepdim=True)
    return torch.exp(log_one - (0.0 if norm == inf else torch.logsumexp(norm * below, dim=-1, keepdim=True) / norm))
