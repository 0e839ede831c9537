"""What a push was asked to do, in words that a checkpoint can compare.

settings = { surface: names and shapes of its weights, instance: label, pair: sources and sizes, every option }
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from torch import Tensor

from equipoise import catalog
from equipoise.sources.position import outline
from equipoise.training.run import stateful

_LEFT_OUT = {"checkpoint"}


def describe(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a push by name, as text, numbers and lists."""
    given = {name: _word(value) for name, value in arguments.items() if name not in _LEFT_OUT}
    surface = arguments["surface"]
    weights = [f"{name} {tuple(t.shape)} {t.dtype}" for name, t in surface.state_dict().items() if hasattr(t, "shape")]
    given["callbacks"] = [type(hook).__name__ for hook in stateful(arguments["callbacks"])] or None
    given["instance"] = catalog.get(arguments["instance"]).label
    given |= {"surface": [type(surface).__name__, *weights], "pair": outline(arguments["pair"])}
    return given


def _word(value: Any) -> Any:  # noqa: ANN401
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, Tensor):
        return value.detach().double().flatten().tolist()
    return getattr(value, "label", None) or getattr(value, "__name__", None) or type(value).__name__
