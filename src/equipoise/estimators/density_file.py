"""A fitted density as a document and tensors, and back.

document: instance, base, surface, units, selection        tensors: base.*, surface.*, shift, scale
"""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from equipoise import catalog
from equipoise.bases import BASES, Rescaled
from equipoise.estimators.density_fit import Fitted
from equipoise.normalizer import Normalizer
from equipoise.surfaces import build, describe, size
from equipoise.training.history import History

Document = dict[str, Any]


def to_document(model: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401  # a fitted Density
    """Everything that scoring and sampling need."""
    instance = model.instance_
    if not catalog.by_name.belongs(instance):
        message = f"{instance.label} is not in the catalogue, and a model file holds no code: it cannot be saved"
        raise TypeError(message)
    if not all(isinstance(value, str | int | float) for value in instance.parameters.values()):
        message = f"{instance.label} holds a function, and a model file holds no code: it cannot be saved"
        raise TypeError(message)
    base, tensors = _of_base(model.standard_base_)
    tensors |= {"shift": model.shift_, "scale": model.scale_}
    if model.surface_ is not None:
        tensors |= {f"surface.{key}": value for key, value in model.surface_.state_dict().items()}
    document = {
        "instance": {"name": instance.name, "parameters": dict(instance.parameters)},
        "base": base,
        "surface": None if model.surface_ is None else describe(model.surface_),
        "log_normalizer": [model.log_normalizer_, model.log_normalizer_se_],
        "selection": [{key: _number(value) for key, value in row.items()} for row in model.selection_],
        "history": asdict(model.history_),
        "features": model.n_features_in_,
        "names": [str(name) for name in getattr(model, "feature_names_in_", ())],
    }
    return document, tensors


def from_document(document: Document, tensors: dict[str, Tensor]) -> tuple[Fitted, int, tuple[str, ...]]:
    """A fitted density, its number of columns and their names."""
    instance = catalog.get(document["instance"]["name"], **document["instance"]["parameters"])
    features = _count(document["features"])
    if not (instance.scalar and instance.feasible):
        message = f"no density follows from {instance.label}"
        raise ValueError(message)
    shift, scale = (_column(tensors[name], features) for name in ("shift", "scale"))
    base = _to_base(document["base"], tensors)
    surface = None if document["surface"] is None else _to_surface(document["surface"], _part(tensors, "surface."))
    probe = torch.zeros(1, features, dtype=torch.float64)
    answers = [base.log_prob(probe), *([] if surface is None else [surface(probe)])]
    if any(answer.shape != (1,) or bool(torch.isnan(answer)) for answer in answers) or not bool((scale > 0).all()):
        message = "the base, the surface and the units do not fit together"
        raise ValueError(message)
    log_z, se = (float(value) for value in document["log_normalizer"])
    if not (isfinite(log_z) and isfinite(se)):
        message = f"log Z must be finite, got {log_z} ± {se}"
        raise ValueError(message)
    history, rows = History(**document["history"]), document["selection"]
    selection = [{key: value if key == "name" else float(value) for key, value in row.items()} for row in rows]
    normalizer = Normalizer(log_z, se, float("nan"), 0)
    names = tuple(str(name) for name in document["names"])
    if len(names) not in {0, features}:
        message = f"{len(names)} names for {features} columns"
        raise ValueError(message)
    return Fitted(instance, base, surface, shift, scale, normalizer, selection, history), features, names


def _of_base(base: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401
    """A fitted base, or one that was given in the table's units and is rescaled from them."""
    inner = base.density if isinstance(base, Rescaled) else base
    names = {kind: name for name, kind in BASES.items()}
    if type(inner) not in names:
        message = f"a density over a {type(inner).__name__} cannot go into a model file: use a base of eq.bases"
        raise TypeError(message)
    tensors = {f"base.{key}": value for key, value in inner.state().items()}
    if inner is not base:
        tensors |= {"given.shift": base.shift, "given.scale": base.scale}
    document = {"name": names[type(inner)], "parameters": inner.parameters(), "given": inner is not base}
    return document, tensors


def _to_base(document: Document, tensors: dict[str, Tensor]) -> Any:  # noqa: ANN401
    base = BASES[document["name"]](**document["parameters"]).load_state(_part(tensors, "base."))
    return Rescaled(base, tensors["given.shift"], tensors["given.scale"]) if document["given"] else base


def _to_surface(blueprint: Document, state: dict[str, Tensor]) -> nn.Module:
    if size(blueprint) != sum(tensor.numel() for tensor in state.values()):
        message = "the surface's weights are not those of its blueprint"
        raise ValueError(message)
    surface = build(blueprint).double()
    surface.load_state_dict(state)
    return surface.train(mode=False)


def _number(value: Any) -> Any:  # noqa: ANN401
    """A number that JSON can hold; it has no infinities, so these go as words that ``float`` reads."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


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
