"""Labels, whatever they are, as numbers 0 … C−1 in the order of their classes.

    y = classes[codes]

Strings, integers, floats that are whole, and booleans name classes; numbers that measure something do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_NUMBERS = {np.dtype(kind).name for kind in "?bhilqBHILQefd"}
_SUM = 1e-6  # by which priors may miss one


@dataclass(frozen=True)
class Labels:
    """Labelled rows without the rows.

    Arguments:
        classes: The classes, sorted.
        codes: Which one each row belongs to, (n,).
    """

    classes: NDArray[Any]
    codes: Tensor

    @classmethod
    def read(cls, y: Any, n: int, keep: Tensor | None = None) -> Self:  # noqa: ANN401  # whatever a user has
        """Labels of n rows, of which only those at ``keep``, (n,), are looked at."""
        from sklearn.utils import column_or_1d
        from sklearn.utils.multiclass import check_classification_targets

        if y is None:
            message = "a classifier requires y to be passed, but the target y is None"
            raise ValueError(message)
        given = column_or_1d(np.asarray(y.detach().cpu() if hasattr(y, "detach") else y), warn=True)
        if len(given) != n:
            message = f"y must hold one label per row: expected {n:,}, got {len(given):,}"
            raise ValueError(message)
        given = given if keep is None else given[keep.numpy()]
        _refuse_missing(given)
        check_classification_targets(given)
        classes, codes = np.unique(given, return_inverse=True)
        if len(classes) < 2:
            message = f"a classifier needs rows of at least two classes, got one class only: {classes.tolist()[0]!r}"
            raise ValueError(message)
        return cls(classes, torch.from_numpy(codes.astype(np.int64)))

    def counts(self) -> Tensor:
        """Rows of each class, (C,)."""
        return torch.bincount(self.codes, minlength=len(self.classes))


@dataclass(frozen=True)
class Classes:
    """What is known of the classes: their names, and how often each is met.

    Arguments:
        names: Sorted, (C,).
        shares: Of the table that taught, (C,).
        priors: Where the classifier is used, (C,); as in the table where it is None.
    """

    names: NDArray[Any]
    shares: Tensor
    priors: Tensor | None = None

    @property
    def shift(self) -> Tensor:
        """What other priors add to log probabilities, (C,): T carries the ratio of priors as a factor (line 4704)."""
        return torch.zeros_like(self.shares) if self.priors is None else torch.log(self.priors / self.shares)


def _refuse_missing(labels: NDArray[Any]) -> None:
    if labels.dtype.kind == "f":
        lacking = ~np.isfinite(labels)
    elif labels.dtype.kind == "O":
        lacking = np.array([cell is None or str(cell) in {"nan", "<NA>", "NaT"} for cell in labels], dtype=bool)
    else:
        return
    if lacking.any():
        message = f"y has no label (missing, NaN or infinity) in {int(lacking.sum()):,} of {len(labels):,} rows"
        raise ValueError(message)


def priors_of(given: Any, classes: NDArray[Any]) -> Tensor | None:  # noqa: ANN401
    """Class priors as a tensor in the order of the classes, from a mapping by class or a sequence; None stays."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        names = classes.tolist()
        if set(given) != set(names):
            message = f"priors name the classes {sorted(map(str, given))}, and y has {sorted(map(str, names))}"
            raise ValueError(message)
        given = [given[name] for name in names]
    try:
        priors = torch.from_numpy(np.array(given, dtype=np.float64))
    except (TypeError, ValueError):
        message = f"priors must be one number per class, or a mapping from classes to numbers; got {given!r}"
        raise ValueError(message) from None
    right = priors.shape == (len(classes),) and bool((priors > 0).all()) and abs(priors.sum().item() - 1.0) < _SUM
    if not right:
        message = f"priors must be {len(classes)} positive numbers that sum to 1, one per class; got {given!r}"
        raise ValueError(message)
    return priors / priors.sum()


def classes_document(classes: NDArray[Any]) -> dict[str, Any]:
    """Classes as JSON."""
    kind = "text" if classes.dtype.kind == "U" else "object" if classes.dtype.kind == "O" else classes.dtype.name
    plain = classes.tolist()
    if kind not in _NUMBERS | {"text", "object"} or (kind == "object" and not all(isinstance(c, str) for c in plain)):
        message = f"classes of type {classes.dtype} cannot go into a model file: use strings or numbers"
        raise TypeError(message)
    return {"type": kind, "values": plain}


def to_classes(document: dict[str, Any]) -> NDArray[Any]:
    """Classes again, sorted and different from each other."""
    kind, values = document["type"], document["values"]
    words = kind in {"text", "object"}
    if not (words or kind in _NUMBERS) or not isinstance(values, list):
        message = f"unknown type of classes {kind!r}"
        raise ValueError(message)
    if not all(isinstance(value, str if words else int | float) for value in values):
        message = f"classes of type {kind} hold something else"
        raise ValueError(message)
    try:
        classes = np.array(values, dtype={"text": np.str_, "object": object}.get(kind, kind))
    except OverflowError:
        message = f"classes do not fit into {kind}"
        raise ValueError(message) from None
    if classes.ndim != 1 or len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        message = "classes must be at least two, sorted, and different from each other"
        raise ValueError(message)
    return classes
