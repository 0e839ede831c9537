"""The parts of models as documents: instances by name, bases by name and state, surfaces by blueprint and weights."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from equipoise import catalog
from equipoise.bases import BASES, Base, Mixture, Rescaled
from equipoise.bases.fitted import are_finite
from equipoise.instance import Instance
from equipoise.surfaces import build, describe, size

Document = dict[str, Any]

_MIXTURE = "mixture"


def instance_document(instance: Instance) -> Document:
    """An instance of the catalogue, by name and parameters."""
    if not catalog.by_name.belongs(instance):
        message = f"{instance.label} is not in the catalogue, and a model file holds no code: it cannot be saved"
        raise TypeError(message)
    if not all(isinstance(value, str | int | float) for value in instance.parameters.values()):
        message = f"{instance.label} holds a function, and a model file holds no code: it cannot be saved"
        raise TypeError(message)
    return {"name": instance.name, "parameters": dict(instance.parameters)}


def to_instance(document: Document) -> Instance:
    """The instance again."""
    return catalog.get(document["name"], **document["parameters"])


def base_document(base: Any) -> tuple[Document, dict[str, Tensor]]:  # noqa: ANN401
    """A fitted base, or one that was given in the table's units and is rescaled from them."""
    inner = base.density if isinstance(base, Rescaled) else base
    document = _unfitted(inner)
    tensors = dict(inner.state())
    if inner is not base:
        tensors |= {"given.shift": base.shift, "given.scale": base.scale}
    return {**document, "given": inner is not base}, tensors


def to_base(document: Document, tensors: dict[str, Tensor]) -> Any:  # noqa: ANN401
    """The base again."""
    own = {key: value for key, value in tensors.items() if not key.startswith("given.")}
    base = _made(document).load_state(own)
    if not document["given"]:
        return base
    shift, scale = tensors["given.shift"], tensors["given.scale"]
    if not (are_finite(shift, scale) and bool((scale > 0).all())):
        message = "a base's units must be finite, and their scale positive"
        raise ValueError(message)
    return Rescaled(base, shift, scale)


def _unfitted(base: Any) -> Document:  # noqa: ANN401
    """A base's name and parameters; those of its parts where it is a mixture."""
    if isinstance(base, Mixture):
        return {"name": _MIXTURE, "parts": [_unfitted(each) for each in base.parts]}
    names = {kind: name for name, kind in BASES.items()}
    if type(base) not in names:
        message = f"a density over a {type(base).__name__} cannot go into a model file: use a base of eq.bases"
        raise TypeError(message)
    return {"name": names[type(base)], "parameters": base.parameters()}


def _made(document: Document) -> Base:
    if document["name"] == _MIXTURE:
        return Mixture([_made(each) for each in document["parts"]])
    return BASES[document["name"]](**document["parameters"])


def surface_document(surface: nn.Module) -> tuple[Document, dict[str, Tensor]]:
    """A surface's blueprint and weights."""
    return describe(surface), dict(surface.state_dict())


def to_surface(blueprint: Document, state: dict[str, Tensor]) -> nn.Module:
    """The surface again, in evaluation mode."""
    if size(blueprint) != sum(tensor.numel() for tensor in state.values()):
        message = "the surface's weights are not those of its blueprint"
        raise ValueError(message)
    surface = build(blueprint).double()
    surface.load_state_dict(state)
    return surface.train(mode=False)


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors under a prefix, without it."""
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
