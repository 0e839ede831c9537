"""A fitted density as a document and tensors, and back.

document: members (base, and instance, surface, normaliser where one was pushed), weights, units, selection
tensors:  member.i.base.*, member.i.surface.*, shift, scale, low, high
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

import torch
from torch import Tensor

from equipoise.densities import Pushed, Stacked
from equipoise.estimators.density_fit import Fitted
from equipoise.estimators.parts_file import (
    Document,
    base_document,
    instance_document,
    part,
    surface_document,
    to_base,
    to_instance,
    to_surface,
)
from equipoise.estimators.plain import plain
from equipoise.estimators.record_file import record_document, to_record
from equipoise.instance import Instance
from equipoise.normalizer import Normalizer


def to_document(model: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401  # a fitted Density
    """Everything that scoring and sampling need."""
    stack: Stacked = model.stack_
    tensors = {"shift": model.shift_, "scale": model.scale_, "low": stack.low, "high": stack.high}
    members = []
    for i, member in enumerate(stack.members):
        document, own = _of_member(member)
        members.append(document)
        tensors |= {f"member.{i}.{key}": value for key, value in own.items()}
    document = {
        "members": members,
        "weights": list(stack.weights),
        "member_names": list(stack.names),
        "inside": stack.inside,
        "instance": instance_document(model.instance_),
        "warnings": list(model.warnings_),
        "samples": [model.n_samples_, model.n_selecting_],
        "features": model.n_features_in_,
        **record_document(model),
    }
    return document, tensors


def from_document(document: Document, tensors: dict[str, Tensor]) -> tuple[Fitted, tuple[str, ...]]:
    """A fitted density and the names of its columns."""
    features = _count(document["features"])
    shift, scale, low, high = (_column(tensors, name, features) for name in ("shift", "scale", "low", "high"))
    members = [_to_member(each, part(tensors, f"member.{i}.")) for i, each in enumerate(document["members"])]
    weights = [float(weight) for weight in document["weights"]]
    names = [str(name) for name in document["member_names"]]
    fits = len(members) == len(weights) == len(names) and all(w > 0 for w in weights) and abs(sum(weights) - 1) < 1e-6
    inside = float(document["inside"])
    units = bool((scale > 0).all() & (low < high).all()) and 0.0 < inside <= 1.0
    if not (fits and members and units):
        message = "members, weights and units do not fit together"
        raise ValueError(message)
    probe = torch.zeros(1, features, dtype=torch.float64)
    if any(torch.isnan(member.log_prob(probe)) or member.log_prob(probe).shape != (1,) for member in members):
        message = "a member does not fit the columns"
        raise ValueError(message)
    stack = Stacked(tuple(members), tuple(weights), tuple(names), low, high, inside)
    record = to_record(document, features)
    n, selecting = (int(count) for count in document["samples"])
    warnings = [str(sentence) for sentence in document["warnings"]]
    instance = _of_density(document["instance"])
    return Fitted(stack, shift, scale, record.selection, record.history, warnings, n, selecting, instance), record.names


def _of_member(member: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401
    if not isinstance(member, Pushed):
        base, tensors = base_document(member)
        return {"base": base}, {f"base.{key}": value for key, value in tensors.items()}
    base, of_base = base_document(member.base)
    surface, of_surface = surface_document(member.surface)
    z = member.normalizer
    document = {
        "base": base,
        "surface": surface,
        "instance": instance_document(member.instance),
        "normalizer": [z.log_z, z.se, z.ess, z.n, plain(z.tail)],
        "least": member.least,
    }
    tensors = {f"base.{key}": value for key, value in of_base.items()}
    return document, tensors | {f"surface.{key}": value for key, value in of_surface.items()}


def _to_member(document: Document, tensors: dict[str, Tensor]) -> Any:  # noqa: ANN401
    base = to_base(document["base"], part(tensors, "base."))
    if "surface" not in document:
        return base
    log_z, se, ess, n, tail = (float(value) for value in document["normalizer"])
    if not (all(map(isfinite, (log_z, se, ess, n))) and min(se, ess, n) >= 0.0 and not isnan(tail)):
        message = f"log Z must be finite, with an error and rows, got {log_z} ± {se}"
        raise ValueError(message)
    surface = to_surface(document["surface"], part(tensors, "surface."))
    least = float(document["least"])
    if not (isfinite(least) and least <= 0.0):
        message = f"the floor of log R must be finite and not positive, got {least}"
        raise ValueError(message)
    return Pushed(base, _of_density(document["instance"]), surface, Normalizer(log_z, se, ess, int(n), tail), least)


def _of_density(document: Document) -> Instance:
    instance = to_instance(document)
    if not (instance.scalar and instance.feasible):
        message = f"no density follows from {instance.label}"
        raise ValueError(message)
    return instance


def _count(value: Any) -> int:  # noqa: ANN401
    if not isinstance(value, int) or value < 1:
        message = f"the number of columns must be a positive integer, got {value!r}"
        raise ValueError(message)
    return value


def _column(tensors: dict[str, Tensor], name: str, features: int) -> Tensor:
    values = tensors[name]
    finite = name not in {"shift", "scale"} or bool(torch.isfinite(values).all())
    if values.shape != (features,) or not finite or bool(torch.isnan(values).any()):
        message = f"expected {features} finite numbers, got a tensor of shape {tuple(values.shape)}"
        raise ValueError(message)
    return values.to(torch.float64)
