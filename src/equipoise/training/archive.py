"""One file of numbers, words and tensors, nested as they come: written whole or not at all, read without running code.

    tree   →   safetensors of all tensors, metadata["equipoise"] = the tree as JSON with tensors by number

A digest of both finds damage; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_KEY, _DIGEST = "equipoise", "sha256"
_MARK = "$"  # the key that tells what JSON has no word for

Tree = Any


class ArchiveError(ValueError):
    """A file that is not of ours, or one that is damaged."""


def write(path: Path, tree: Tree) -> None:
    """Write a tree to one file, which appears whole or not at all."""
    from safetensors.torch import save as to_bytes

    tensors: dict[str, Tensor] = {}
    header = json.dumps(_pack(tree, tensors), allow_nan=False)
    content = to_bytes(tensors, metadata={_KEY: header, _DIGEST: _digest(header, tensors)})
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read(path: Path) -> Tree:
    """Read a tree that :func:`write` wrote."""
    from safetensors import SafetensorError
    from safetensors.torch import load as from_bytes

    try:
        content = path.read_bytes()  # at once: the file may be replaced at any time
        tensors = from_bytes(content)
        metadata = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
        header = metadata[_KEY]
        if metadata[_DIGEST] != _digest(header, tensors):
            message = f"{path}: damaged: its contents do not match their digest"
            raise ArchiveError(message)
        return _unpack(json.loads(header), tensors)
    except (SafetensorError, OSError, UnicodeDecodeError, KeyError, RecursionError, json.JSONDecodeError) as error:
        message = f"{path}: not a file that equipoise wrote ({type(error).__name__}: {str(error)[:200]})"
        raise ArchiveError(message) from None


def _pack(value: Tree, tensors: dict[str, Tensor]) -> Any:  # noqa: ANN401, PLR0911  # one return per kind
    """The value as JSON; tensors are put aside."""
    if isinstance(value, Tensor):
        name = str(len(tensors))
        tensors[name] = value.detach().cpu().clone(memory_format=torch.contiguous_format)
        return {_MARK: "tensor", "name": name}
    if isinstance(value, dict):
        if all(isinstance(key, str) and key != _MARK for key in value):
            return {key: _pack(entry, tensors) for key, entry in value.items()}
        return {_MARK: "dict", "items": [[_pack(k, tensors), _pack(v, tensors)] for k, v in value.items()]}
    if isinstance(value, list):
        return [_pack(entry, tensors) for entry in value]
    if isinstance(value, tuple):
        return {_MARK: "tuple", "items": [_pack(entry, tensors) for entry in value]}
    if isinstance(value, float) and not isfinite(value):
        return {_MARK: "float", "value": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    message = f"a {type(value).__name__} cannot be written to a file that holds no code"
    raise TypeError(message)


def _unpack(value: Any, tensors: dict[str, Tensor]) -> Tree:  # noqa: ANN401, PLR0911  # likewise
    if isinstance(value, list):
        return [_unpack(entry, tensors) for entry in value]
    if not isinstance(value, dict):
        return value
    mark = value.get(_MARK)
    if mark is None:
        return {key: _unpack(entry, tensors) for key, entry in value.items()}
    if mark == "tensor":
        return tensors[value["name"]]
    if mark == "dict":
        return {_unpack(key, tensors): _unpack(entry, tensors) for key, entry in value["items"]}
    if mark == "tuple":
        return tuple(_unpack(entry, tensors) for entry in value["items"])
    return float(value["value"])


def _digest(header: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
