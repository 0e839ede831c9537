"""A fitted density as a document and tensors, and back.

document: instance, base, surface, units, selection        tensors: base.*, surface.*, shift, scale
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from equipoise import catalog
from equipoise.bases import BASES, Base
from equipoise.estimators.density_fit import Fitted
from equipoise.normalizer import Normalizer
from equipoise.surfaces import build, describe
from equipoise.training.history import History

Document = dict[str, Any]


def to_document(model: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401  # a fitted Density
    """Everything that scoring and sampling need."""
    base, instance = model.standard_base_, model.instance_
    names = {kind: name for name, kind in BASES.items()}
    if type(base) not in names:
        message = f"a density over a {type(base.density).__name__} cannot go into a model file: use a base of eq.bases"
        raise TypeError(message)
    if instance.name not in catalog.names():
        message = f"{instance.label} is not in the catalogue, and a model file holds no code: it cannot be saved"
        raise TypeError(message)
    if not all(isinstance(value, str | int | float) for value in instance.parameters.values()):
        message = f"{instance.label} holds a function, and a model file holds no code: it cannot be saved"
        raise TypeError(message)
    tensors = {f"base.{key}": value for key, value in base.state().items()}
    tensors |= {"shift": model.shift_, "scale": model.scale_}
    if model.surface_ is not None:
        tensors |= {f"surface.{key}": value for key, value in model.surface_.state_dict().items()}
    document = {
        "instance": {"name": instance.name, "parameters": dict(instance.parameters)},
        "base": {"name": names[type(base)], "parameters": base.parameters()},
        "surface": None if model.surface_ is None else describe(model.surface_),
        "log_normalizer": [model.log_normalizer_, model.log_normalizer_se_],
        "selection": model.selection_,
        "history": asdict(model.history_),
        "features": model.n_features_in_,
        "names": [str(name) for name in getattr(model, "feature_names_in_", ())],
    }
    return document, tensors


def from_document(document: Document, tensors: dict[str, Tensor]) -> tuple[Fitted, int, tuple[str, ...]]:
    """A fitted density, its number of columns and their names."""
    instance = catalog.get(document["instance"]["name"], **document["instance"]["parameters"])
    features = _count(document["features"])
    base: Base = BASES[document["base"]["name"]](**document["base"]["parameters"]).load_state(_part(tensors, "base."))
    shift, scale = (_column(tensors[name], features) for name in ("shift", "scale"))
    if base.features != features or not bool((scale > 0).all()):
        message = "the base and the units disagree with the number of columns"
        raise ValueError(message)
    surface = None
    if document["surface"] is not None:
        surface = build(document["surface"]).double()
        surface.load_state_dict(_part(tensors, "surface."))
        surface.train(mode=False)
    log_z, se = (float(value) for value in document["log_normalizer"])
    history = History(**document["history"])
    selection = [dict(row) for row in document["selection"]]
    normalizer = Normalizer(log_z, se, float("nan"), 0)
    names = tuple(str(name) for name in document["names"])
    return Fitted(instance, base, surface, shift, scale, normalizer, selection, history), features, names


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}


def _count(value: Any) -> int:  # noqa: ANN401
    if not isinstance(value, int) or value < 1:
        message = f"the number of columns must be a positive integer, got {value!r}"
        raise ValueError(message)
    return value


def _column(values: Tensor, features: int) -> Tensor:
    if values.shape != (features,) or not bool(torch.isfinite(values).all()):
        message = f"expected {features} finite numbers, got a tensor of shape {tuple(values.shape)}"
        raise ValueError(message)
    return values.to(torch.float64)
