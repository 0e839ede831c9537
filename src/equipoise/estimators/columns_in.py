"""A table's columns as an estimator was fitted on them: by name where both have names, by position otherwise."""

from __future__ import annotations

from typing import Any

from equipoise.io.table import Table


def columns_of(model: Any, table: Table) -> Table:  # noqa: ANN401  # a fitted estimator
    """The table in the order of the model's columns, or an error that says which are wrong."""
    names = tuple(getattr(model, "feature_names_in_", ()))
    called = type(model).__name__
    if names and table.names and names != table.names:
        if len(table.names) != len(names):
            message = f"X has columns {', '.join(table.names)}; {called} was fitted on {', '.join(names)}"
            raise ValueError(message)
        table = table.select(names)
    if table.shape[1] != model.n_features_in_:
        message = f"X has {table.shape[1]} features, but {called} is expecting {model.n_features_in_} features as input"
        raise ValueError(message)
    return table
