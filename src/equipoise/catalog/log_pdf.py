"""Five more losses for a log density (Table LogPDFInstances, line 3888): one R = exp u, split in five ways.

M_down / M_up = exp f / p,   and any factor may move from one magnitude into the other (line 3886)
"""

from __future__ import annotations

from dataclasses import replace

import torch

from equipoise.catalog import estimands
from equipoise.catalog.density import IMPORTANCE_SAMPLING, INVERSE_IMPORTANCE_SAMPLING
from equipoise.catalog.registry import register
from equipoise.instance import Instance, Printed, Reference

register(
    Instance(
        "log_pdf_1",
        up=lambda u, log_base: torch.exp(log_base).expand_as(u),
        down=lambda u, log_base: torch.exp(u + log_base),
        up_primitive=lambda u, log_base: u * torch.exp(log_base),
        down_primitive=lambda u, log_base: torch.exp(u + log_base),
        estimand=estimands.LOG_DENSITY,
        printed=Printed("p", "exp(f)", loss_up="-f*p", loss_down="exp(f)", interval="(-inf, inf)"),
        reference=Reference((), "Table LogPDFInstances, 1 (3897)", ("Kopitkov20arxiv",)),
    )
)

register(
    replace(
        IMPORTANCE_SAMPLING,
        name="log_pdf_2",
        reference=Reference((), "Table LogPDFInstances, 2 (3913)", ("Pihlaja12arxiv",)),
    )
)

register(
    replace(
        INVERSE_IMPORTANCE_SAMPLING,
        name="log_pdf_3",
        reference=Reference((), "Table LogPDFInstances, 3 (3931)", ("Pihlaja12arxiv",)),
    )
)

register(
    Instance(
        "log_pdf_4",
        up=lambda u: torch.exp(-0.5 * u),
        down=lambda u: torch.exp(0.5 * u),
        up_primitive=lambda u: -2.0 * torch.exp(-0.5 * u),
        down_primitive=lambda u: 2.0 * torch.exp(0.5 * u),
        estimand=estimands.LOG_DENSITY,
        printed=Printed(
            "exp((log(p) - f)/2)",
            "exp((f - log(p))/2)",
            loss_up="2*exp((log(p) - f)/2)",
            loss_down="2*exp((f - log(p))/2)",
            interval="(-inf, inf)",
        ),
        reference=Reference((), "Table LogPDFInstances, 4 (3950)", ("Kopitkov20arxiv",)),
    )
)

register(
    Instance(
        "log_pdf_5",
        up=lambda u, log_base: torch.exp(u + 2.0 * log_base),
        down=lambda u, log_base: torch.exp(2.0 * (u + log_base)),
        up_primitive=lambda u, log_base: torch.exp(u + 2.0 * log_base),
        down_primitive=lambda u, log_base: 0.5 * torch.exp(2.0 * (u + log_base)),
        estimand=estimands.LOG_DENSITY,
        printed=Printed("p*exp(f)", "exp(2*f)", loss_up="-exp(f)*p", loss_down="exp(2*f)/2", interval="(-inf, inf)"),
        reference=Reference((), "Table LogPDFInstances, 5 (3995)", ("Kopitkov20arxiv",)),
    )
)
