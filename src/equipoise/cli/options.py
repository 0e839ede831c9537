"""Options that several commands share, and what their words mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

FILE = click.Path(path_type=Path)

missing = click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="Rows with missing values: an error that counts them, or leave them out.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
columns = click.option(
    "--columns", help="Columns to use, with commas between them: names, or positions as #0,#2. [default: all]"
)
instance = click.option(
    "--instance", default="auto", show_default=True, help="A method, such as nce or pso_lde(alpha=0.5)."
)
two_samples = click.option("--instance", default="auto", show_default=True, help="A method, such as logistic or ldar.")
budget = click.option("--budget", default="auto", show_default=True, help="Steps, or a time such as 90s or 5m.")
seed = click.option("--seed", default=0, show_default=True, help="Seeds everything.")


def names(text: str | None) -> list[str | int] | None:
    """Columns from a list with commas: names, or positions as ``#0``."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    return [int(word[1:]) if word[:1] == "#" and word[1:].isdigit() else word for word in words]


def steps(text: str) -> int | str:
    """A budget: digits are steps, anything else is for the estimator to read."""
    return int(text) if text.isdigit() else text


def method(text: str) -> Any:  # noqa: ANN401  # a name, or an instance
    """A method of the catalogue: a name, or a name with numbers such as ``pso_lde(alpha=0.5)``."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return text
    from equipoise import catalog

    try:
        given = [part.partition("=") for part in rest.removesuffix(")").split(",") if part.strip()]
        parameters = {key.strip(): float(value) for key, _, value in given}
    except ValueError:
        message = f"--instance: expected a name, or a name with numbers such as pso_lde(alpha=0.5); got {text!r}"
        raise ValueError(message) from None
    return catalog.get(name.strip(), **parameters)


def prepare(*targets: Path | None) -> None:
    """Make the folders that results go to, before the work whose result it is."""
    for target in targets:
        if target is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
