"""A fitted ratio as a document and tensors, and back.

document: folds of pools (members, weights, names), selection, history, notes
tensors:  fold.k.member.j.*, shift, scale, unseen log ratios and weights
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

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
from equipoise.estimators.ratio_fit import FittedRatio
from equipoise.estimators.record_file import record_document, to_record
from equipoise.estimators.units import Units
from equipoise.ratios import Bridge, Difference, Discriminant, Folds, Over, Pool
from equipoise.ratios.score import LogRatios

_UNSEEN = ("num", "den", "num_weight", "den_weight")
_MOST_NESTED = 4

Found = tuple[FittedRatio, Units, tuple[str, ...], list[str]]


def to_document(model: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401  # a fitted DensityRatio
    """Everything that log ratios and divergences need."""
    tensors = {"shift": model.units_.shift, "scale": model.units_.scale}
    at = {name: getattr(model.unseen_, name) for name in _UNSEEN}
    tensors |= {f"unseen.{name}": value for name, value in at.items() if value is not None}
    pools = []
    for k, pool in enumerate(model.folds_.pools):
        members = []
        for j, member in enumerate(pool.members):
            document, own = _of_member(member)
            members.append(document)
            tensors |= {f"fold.{k}.member.{j}.{key}": value for key, value in own.items()}
        ends = [plain(pool.low), plain(pool.high)]
        pools.append({"members": members, "weights": list(pool.weights), "names": list(pool.names), "ends": ends})
    document = {
        "folds": pools,
        "instance": instance_document(model.instance_),
        "bridged": model.bridged_,
        "different": model.different_,
        "notes": list(model.warnings_),
        **record_document(model),
    }
    return document, tensors


def from_document(document: Document, tensors: dict[str, Tensor]) -> Found:
    """A fitted ratio, its units, the names of its columns and what was said about it."""
    units = _units(tensors["shift"].double(), tensors["scale"].double())
    pools = [_to_pool(each, part(tensors, f"fold.{k}."), units.kept) for k, each in enumerate(document["folds"])]
    if not pools:
        message = "a ratio has at least one fold"
        raise ValueError(message)
    record = to_record(document, len(units.shift))
    instance, at = to_instance(document["instance"]), _unseen(part(tensors, "unseen."))
    bridged, different = bool(document["bridged"]), bool(document["different"])
    fitted = FittedRatio(Folds(tuple(pools)), at, record.selection, instance, record.history, bridged, different)
    return fitted, units, record.names, [str(sentence) for sentence in document["notes"]]


def _units(shift: Tensor, scale: Tensor) -> Units:
    finite = bool(torch.isfinite(shift).all() & torch.isfinite(scale).all())
    if shift.dim() != 1 or shift.shape != scale.shape or not finite or bool((scale < 0).any()) or not bool(scale.any()):
        message = "shift and scale do not fit together"
        raise ValueError(message)
    return Units(shift, scale)


def _unseen(tensors: dict[str, Tensor]) -> LogRatios:
    values = {name: tensors[name].double() if name in tensors else None for name in _UNSEEN}
    num, den = values["num"], values["den"]
    if num is None or den is None or any(v is not None and not bool(torch.isfinite(v).all()) for v in values.values()):
        message = "log ratios must be there, and finite"
        raise ValueError(message)
    for side, weight in ((num, values["num_weight"]), (den, values["den_weight"])):
        fits = weight is None or (weight.shape == side.shape and bool((weight > 0).all()))
        if side.dim() != 1 or not len(side) or not fits:
            message = "log ratios and their weights do not fit together"
            raise ValueError(message)
    return LogRatios(num, den, values["num_weight"], values["den_weight"])


def _of_member(member: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401
    if isinstance(member, Difference):
        (num, of_num), (den, of_den) = base_document(member.num), base_document(member.den)
        tensors = {f"num.{key}": value for key, value in of_num.items()}
        return {"kind": "difference", "num": num, "den": den}, tensors | {f"den.{k}": v for k, v in of_den.items()}
    surface, of_surface = surface_document(member.surface)
    tensors = {f"surface.{key}": value for key, value in of_surface.items()}
    if isinstance(member, Over):
        start, of_start = _of_member(member.start)
        tensors |= {f"start.{key}": value for key, value in of_start.items()}
        return {"kind": "over", "surface": surface, "start": start}, tensors
    return {"kind": "bridge" if isinstance(member, Bridge) else "discriminant", "surface": surface}, tensors


def _to_pool(document: Document, tensors: dict[str, Tensor], features: int) -> Pool:
    members = tuple(_to_member(each, part(tensors, f"member.{j}.")) for j, each in enumerate(document["members"]))
    weights = tuple(float(weight) for weight in document["weights"])
    names = tuple(str(name) for name in document["names"])
    if not len(members) == len(weights) == len(names) or not all(w > 0 for w in weights) or sum(weights) > 1.0 + 1e-6:
        message = "members and weights of a fold do not fit together"
        raise ValueError(message)
    low, high = (float(end) for end in document["ends"])
    if not low <= 0.0 <= high:
        message = f"a log ratio's ends lie on either side of 0, got {low}, {high}"
        raise ValueError(message)
    probe = torch.zeros(1, features, dtype=torch.float64)
    if any(member.log_ratio(probe).shape != (1,) or torch.isnan(member.log_ratio(probe)) for member in members):
        message = "a member does not fit the columns"
        raise ValueError(message)
    return Pool(members, weights, names, low, high)


def _to_member(document: Document, tensors: dict[str, Tensor], depth: int = 0) -> Any:  # noqa: ANN401
    kind = document["kind"]
    if depth > _MOST_NESTED:
        message = "too many log ratios inside each other"
        raise ValueError(message)
    if kind == "difference":
        return Difference(
            to_base(document["num"], part(tensors, "num.")), to_base(document["den"], part(tensors, "den."))
        )
    surface = to_surface(document["surface"], part(tensors, "surface."))
    if kind == "over":
        return Over(_to_member(document["start"], part(tensors, "start."), depth + 1), surface)
    if kind not in ("bridge", "discriminant"):
        message = f"unknown kind of log ratio {kind!r}"
        raise ValueError(message)
    return Bridge(surface) if kind == "bridge" else Discriminant(surface)
