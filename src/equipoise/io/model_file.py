"""One file for a fitted model: safetensors, its metadata a versioned JSON document. Loading runs no code.

    { tensors by name },   metadata["equipoise"] = {"version": 1, "kind": "density", …, "sha256": of all the rest}

What a file may name is listed here and in the catalogue; every field is checked before it is used. The digest finds
damage; it is no signature. The same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, uint8

VERSION = 1
_KEY, _DIGEST = "equipoise", "sha256"
# Estimators stand above this module, so a kind names its class by its place; nothing else can be named.
_KINDS = {
    "classifier": ("equipoise.estimators.classifier", "Classifier"),
    "density": ("equipoise.estimators.density", "Density"),
    "outliers": ("equipoise.estimators.outliers", "Outliers"),
    "ratio": ("equipoise.estimators.ratio", "DensityRatio"),
    "information": ("equipoise.estimators.information", "MutualInformation"),
}

Document = dict[str, Any]


class ModelFileError(ValueError):
    """A file that is no model of ours, or one that is damaged or from the future."""


class Saved(Protocol):
    """What a model offers for saving."""

    kind: str

    def to_document(self) -> tuple[Document, dict[str, Tensor]]:
        """A JSON document and tensors from which the model can be rebuilt."""


def save(model: Saved, path: str | Path) -> None:
    """Write a fitted model to one file; the file appears whole or not at all."""
    from safetensors.torch import save as to_bytes

    if getattr(model, "kind", None) not in _KINDS:
        message = f"cannot save a {type(model).__name__}: expected a fitted equipoise estimator"
        raise TypeError(message)
    document, tensors = model.to_document()
    document = {"version": VERSION, "kind": model.kind, **document}
    whole = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    header = json.dumps({**document, _DIGEST: _digest(document, whole)}, allow_nan=False)
    content = to_bytes(whole, metadata={_KEY: header})
    target = Path(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def load(path: str | Path) -> Any:  # noqa: ANN401  # the estimator that was saved
    """Read a model that :func:`save` wrote."""
    document, tensors = _read(Path(path))
    module, name = _KINDS[document["kind"]]
    try:
        return getattr(import_module(module), name).from_document(document, tensors)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
        message = f"{path}: damaged model file ({type(error).__name__}: {' '.join(str(error).split())})"
        raise ModelFileError(message) from None


def _read(path: Path) -> tuple[Document, dict[str, Tensor]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        message = f"{path}: no such file"
        raise ModelFileError(message)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
    except (SafetensorError, OSError, UnicodeDecodeError) as error:
        message = f"{path}: not a model file ({str(error).splitlines()[0]})"
        raise ModelFileError(message) from None
    if _KEY not in metadata:
        message = f"{path}: a safetensors file, but not one that equipoise wrote"
        raise ModelFileError(message)
    try:
        document = json.loads(metadata[_KEY])
    except (json.JSONDecodeError, RecursionError):
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("version"), int):
        message = f"{path}: its equipoise header is damaged"
        raise ModelFileError(message)
    if document["version"] > VERSION:
        message = f"{path}: written by a later equipoise (format {document['version']}, this one reads up to {VERSION})"
        raise ModelFileError(message)
    if document.pop(_DIGEST, None) != _digest(document, tensors):
        message = f"{path}: damaged model file (its contents do not match their digest)"
        raise ModelFileError(message)
    if document.get("kind") not in list(_KINDS):
        message = f"{path}: holds an unknown kind of model, {document.get('kind')!r}"
        raise ModelFileError(message)
    return document, tensors


def _digest(document: Document, tensors: dict[str, Tensor]) -> str:
    """Of the document and of every tensor's name, type, shape and bytes."""
    digest = hashlib.sha256(json.dumps(document).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        digest.update(tensor.reshape(-1).view(uint8).numpy().tobytes())
    return digest.hexdigest()
