"""Fitted outliers as a document and tensors, and back: the density's or the ratio's own, with an offset beside it.

document: by (density or ratio), judge, offset, unseen share, contamination, warnings, samples, names
tensors:  judge.*
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from torch import Tensor

from equipoise.estimators.density import Density
from equipoise.estimators.outliers_fit import Judge
from equipoise.estimators.parts_file import Document, part
from equipoise.estimators.plain import plain, unplain
from equipoise.estimators.ratio import DensityRatio

_JUDGES: dict[str, Any] = {"density": Density, "ratio": DensityRatio}

Found = tuple[Judge, tuple[str, ...], tuple[int, int], float]


def to_document(model: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401  # fitted Outliers
    """Everything that scoring needs."""
    kinds = {judge: name for name, judge in _JUDGES.items()}
    if type(model._judge) not in kinds:
        message = f"outliers by a {type(model._judge).__name__} cannot go into a model file: use an eq.Density"
        raise TypeError(message)
    judge, tensors = model._judge.to_document()
    document = {
        "by": kinds[type(model._judge)],
        "judge": judge,
        "offset": model.offset_,
        "unseen_share": plain(model.unseen_share_),
        "contamination": float(model.contamination),
        "warnings": list(model.warnings_),
        "samples": model.n_samples_,
        "names": [str(name) for name in getattr(model, "feature_names_in_", ())],
    }
    return document, {f"judge.{key}": value for key, value in tensors.items()}


def from_document(document: Document, tensors: dict[str, Tensor]) -> Found:
    """The judge, the names of its columns, rows and columns, and the contamination."""
    judge = _JUDGES[document["by"]].from_document(document["judge"], part(tensors, "judge."))
    offset, share = (float(unplain(document[key])) for key in ("offset", "unseen_share"))
    contamination = float(document["contamination"])
    if not isfinite(offset) or not 0.0 < contamination <= 0.5 or share < 0.0 or share > 1.0:
        message = f"offset {offset}, contamination {contamination} and unseen share {share} do not fit together"
        raise ValueError(message)
    names, features = tuple(str(name) for name in document["names"]), judge.n_features_in_
    known = tuple(getattr(judge, "feature_names_in_", names))
    if len(names) not in {0, features} or sorted(names) != sorted(map(str, known)):
        message = f"{len(names)} names for {features} columns, which the judge calls otherwise"
        raise ValueError(message)
    warnings = [str(sentence) for sentence in document["warnings"]]
    return Judge(judge, offset, share, warnings), names, (int(document["samples"]), features), contamination
