"""A fitted classifier as a document and tensors, and back.

document: classes, surface's blueprint, norm, selection, history, warnings, names
tensors:  shift, scale, shares, priors where they were given, surface.*
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from equipoise import catalog
from equipoise.bases.fitted import are_finite, are_shares
from equipoise.estimators.class_units import ClassUnits
from equipoise.estimators.classifier_fit import FittedClassifier
from equipoise.estimators.labels import Classes, classes_document, to_classes
from equipoise.estimators.parts_file import Document, part, surface_document, to_surface
from equipoise.estimators.plain import plain, unplain
from equipoise.estimators.record_file import record_document, to_record
from equipoise.instance import Instance

Found = tuple[FittedClassifier, Instance, Classes, ClassUnits, tuple[str, ...], int]


def to_document(model: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401  # a fitted Classifier
    """Everything that class probabilities need."""
    surface, tensors = surface_document(model.surface_)
    tensors = {f"surface.{key}": value for key, value in tensors.items()}
    known: Classes = model.known_
    tensors |= {"shift": model.units_.shift, "scale": model.units_.scale, "shares": known.shares}
    tensors |= {} if known.priors is None else {"priors": known.priors}
    document = {
        "classes": classes_document(known.names),
        "surface": surface,
        "norm": plain(model.instance_.parameters["norm"]),
        "warnings": list(model.warnings_),
        "samples": [model.n_samples_, model.n_selecting_],
        **record_document(model),
    }
    return document, tensors


def from_document(document: Document, tensors: dict[str, Tensor]) -> Found:
    """What a classifier is made of."""
    instance = catalog.get("softmax_cross_entropy", norm=float(unplain(document["norm"])))
    units = _units(tensors["shift"].double(), tensors["scale"].double())
    known = _classes(document["classes"], tensors)
    surface = to_surface(document["surface"], part(tensors, "surface.")).requires_grad_(requires_grad=False)
    heights = surface(torch.zeros(1, units.kept, dtype=torch.float64))
    if heights.shape != (1, len(known.names)) or not are_finite(heights):
        message = f"the surface must give {len(known.names)} finite heights per row"
        raise ValueError(message)
    record = to_record(document, len(units.shift))
    n, selecting = (int(count) for count in document["samples"])
    warnings = [str(sentence) for sentence in document["warnings"]]
    return (
        FittedClassifier(surface, record.selection, record.history, warnings, selecting),
        instance,
        known,
        units,
        record.names,
        n,
    )


def _classes(document: Document, tensors: dict[str, Tensor]) -> Classes:
    names = to_classes(document)
    shares = [tensors["shares"].double()] + [tensors[key].double() for key in ("priors",) if key in tensors]
    if any(s.shape != (len(names),) or not are_shares(s) or not bool((s > 0).all()) for s in shares):
        message = f"shares and priors must be {len(names)} positive numbers that sum to 1"
        raise ValueError(message)
    return Classes(names, *shares)


def _units(shift: Tensor, scale: Tensor) -> ClassUnits:
    fits = shift.dim() == 1 and shift.shape == scale.shape and are_finite(shift, scale)
    if not fits or not bool((scale >= 0).all()) or not bool((scale > 0).any()):
        message = "shift and scale must hold one finite number per column, and scales must not be negative"
        raise ValueError(message)
    return ClassUnits(shift, scale)
