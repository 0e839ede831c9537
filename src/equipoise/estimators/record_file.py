"""What every fitted model says of itself, as a document and back: what was tried, what the push saw, columns' names."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from equipoise.estimators.plain import plain, unplain
from equipoise.training.history import History


@dataclass(frozen=True)
class Record:
    """What was tried, what the push saw, and the names of the columns."""

    selection: list[dict[str, Any]]
    history: History
    names: tuple[str, ...]


def record_document(model: Any) -> dict[str, Any]:  # noqa: ANN401  # a fitted estimator
    """A fitted model's record."""
    return {
        "selection": [{key: plain(value) for key, value in row.items()} for row in model.selection_],
        "history": {key: plain(value) for key, value in asdict(model.history_).items()},
        "names": [str(name) for name in getattr(model, "feature_names_in_", ())],
    }


def to_record(document: dict[str, Any], features: int) -> Record:
    """The record again; names there are none of, or one for each of the columns."""
    selection = [
        {key: str(value) if key == "name" else float(value) for key, value in row.items()}
        for row in document["selection"]
    ]
    history = History(**{key: unplain(value) for key, value in document["history"].items()})
    names = tuple(str(name) for name in document["names"])
    if len(names) not in {0, features}:
        message = f"{len(names)} names for {features} columns"
        raise ValueError(message)
    return Record(selection, history, names)
