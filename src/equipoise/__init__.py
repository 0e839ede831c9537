"""equipoise: densities, ratios, information and critics as a surface on which two forces balance.

    at balance   p_up / p_down = M_down(u) / M_up(u)

Names load on first use, so that ``import equipoise`` costs next to nothing beside ``import torch``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise import bases, catalog, io, metrics, plots, report, sources, surfaces, targets, theory, training
    from equipoise.estimators.classifier import Classifier
    from equipoise.estimators.density import Density
    from equipoise.estimators.information import MutualInformation
    from equipoise.estimators.outliers import Outliers
    from equipoise.estimators.ratio import DensityRatio
    from equipoise.estimators.two_sample_test import TwoSampleTest
    from equipoise.instance import Estimand, Instance, Reference
    from equipoise.interval import Interval
    from equipoise.io.model_file import load, save
    from equipoise.sources.pair import Pair
    from equipoise.training.push import push

__version__ = version("equipoise")

_SUBPACKAGES = (
    "bases",
    "catalog",
    "io",
    "metrics",
    "plots",
    "report",
    "sources",
    "surfaces",
    "targets",
    "theory",
    "training",
)
_HOMES = {
    "Classifier": "estimators.classifier",
    "Density": "estimators.density",
    "DensityRatio": "estimators.ratio",
    "Estimand": "instance",
    "Instance": "instance",
    "Interval": "interval",
    "MutualInformation": "estimators.information",
    "Outliers": "estimators.outliers",
    "Pair": "sources.pair",
    "Reference": "instance",
    "TwoSampleTest": "estimators.two_sample_test",
    "load": "io.model_file",
    "push": "training.push",
    "save": "io.model_file",
}

__all__ = [
    "Classifier",
    "Density",
    "DensityRatio",
    "Estimand",
    "Instance",
    "Interval",
    "MutualInformation",
    "Outliers",
    "Pair",
    "Reference",
    "TwoSampleTest",
    "__version__",
    "bases",
    "catalog",
    "io",
    "load",
    "metrics",
    "plots",
    "push",
    "report",
    "save",
    "sources",
    "surfaces",
    "targets",
    "theory",
    "training",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name in _SUBPACKAGES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    message = f"equipoise has no {name!r}; it offers {', '.join(__all__)}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)
