"""A fitted model's own pictures: ``model.plot.pair()`` is ``plots.pair(model)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from equipoise.plots.source import Columns


@dataclass(frozen=True)
class Plotter:
    """The pictures of one fitted density; each takes ``ax`` and returns it, or makes its own.

    Arguments:
        model: A fitted density.
    """

    model: Any

    def marginals(self, X: Any = None, *, columns: Columns | None = None, ax: Axes | None = None) -> Any:  # noqa: ANN401
        """Each column's density, with rows X as bars and a band for them."""
        from equipoise.plots.marginals import marginals

        return marginals(self.model, X, columns=columns, ax=ax)

    def pair(self, X: Any = None, *, columns: Columns | None = None, ax: Axes | None = None) -> Any:  # noqa: ANN401
        """Two columns' joint density, or each pair among several, with rows X on it."""
        from equipoise.plots.pair import pair

        return pair(self.model, X, columns=columns, ax=ax)

    def history(self, *, ax: Axes | None = None) -> Any:  # noqa: ANN401
        """The held-out gain and the forces along the push."""
        from equipoise.plots.history import history

        return history(self.model, ax=ax)

    def calibration(self, X: Any, *, ax: Axes | None = None) -> Axes:  # noqa: ANN401
        """Log p of rows X against log p of the model's own samples; X should be rows it has not seen."""
        from equipoise.plots.calibration import calibration

        return calibration(self.model, X, ax=ax)


@dataclass(frozen=True)
class RatioPlotter:
    """The pictures of one fitted ratio, on rows that it has not seen.

    Arguments:
        model: A fitted density ratio.
    """

    model: Any

    def held_out(self) -> Any:  # noqa: ANN401  # an array of two axes
        """Both of the others, side by side."""
        from equipoise.plots.held_out import held_out

        return held_out(self.model)

    def overlap(self, *, ax: Axes | None = None) -> Axes:
        """Log ratios of both sides' rows."""
        from equipoise.plots.overlap import overlap

        return overlap(self.model, ax=ax)

    def reliability(self, *, ax: Axes | None = None) -> Axes:
        """Predicted against observed shares of numerator rows."""
        from equipoise.plots.reliability import reliability

        return reliability(self.model, ax=ax)
