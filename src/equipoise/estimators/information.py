"""Mutual information of two tables whose rows belong together, with its error; of their columns given others, too.

    I(X; Y) = E log p(x, y)/(p(x)·p(y))         I(X; Y | Z) = I(X; Y, Z) − I(X; Z)

A density ratio of the joint rows to rows whose pairing is undone, averaged over rows that it has not seen.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from equipoise.estimators.density import seed_of
from equipoise.estimators.information_fit import check_rows, estimate, in_folds, influence
from equipoise.estimators.information_matrix import InformationMatrix, matrix_of
from equipoise.estimators.parts_file import part
from equipoise.estimators.ratio import DensityRatio
from equipoise.estimators.ratio_fit import fit_ratio
from equipoise.estimators.ratio_plan import plan
from equipoise.estimators.ratio_settings import RatioSettings
from equipoise.estimators.units import Units
from equipoise.io.table import Table
from equipoise.io.tables import to_table
from equipoise.ratios import Side, Sides
from equipoise.sources.rows import as_weights

Array = NDArray[np.float64]

_TWO_SIDED_95 = 1.959963984540054
_STRONG = (
    "So much is shared that rows whose pairing is undone hardly look like joint ones: the value is the mean log ratio "
    "alone, and its standard error does not know how the log ratio goes on between them."
)


class MutualInformation(BaseEstimator):
    """Mutual information in nats.

    Arguments:
        instance: ``"auto"`` (logistic), a catalogue name, or an Instance that balances two samples.
        surface: ``"auto"``, or a module from standardised rows [x, y] (or [x, y, z]) to what it adds to the log ratio.
        budget: ``"auto"``, steps of each push (0 for starts alone), or a time such as ``"90s"`` for all of them.
        validation_fraction: The share of rows a fold sees that are not pushed: half of them end pushes, half choose.
        random_state: Seeds everything.
        device: ``"auto"``, ``"cpu"`` or a torch device, where surfaces are pushed.
        verbose: 1 draws a progress line.

    Attributes:
        value_, se_, interval_: The information, its standard error and 95 % interval, from rows that were held out.
        selection_: Every candidate for the log ratio with its held-out score and weight.
        ratios_: The density ratios behind it: one, or two where Z was given.
        warnings_: What was found, in sentences.

    Example:
        >>> information = MutualInformation(random_state=0).fit(X, Y)
        >>> information.value_, information.se_
    """

    kind = "information"

    def __init__(
        self,
        instance: Any = "auto",  # noqa: ANN401
        surface: Any = "auto",  # noqa: ANN401
        budget: int | str = "auto",
        validation_fraction: float = 0.2,
        random_state: Any = None,  # noqa: ANN401
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.instance = instance
        self.surface = surface
        self.budget = budget
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, Y: Any, Z: Any = None, sample_weight: Any = None) -> Self:  # noqa: ANN401
        """Fit to rows of X and Y that belong together, one or more columns each; given Z, the same of it.

        Arguments:
            X: Rows (n, d) or one column (n,).
            Y: Rows (n, e) or one column (n,).
            Z: Rows (n, f) or one column (n,): the information is then that of X and Y given Z.
            sample_weight: Non-negative weights, (n,).
        """
        settings = RatioSettings.of(self, seed_of(self.random_state))
        x, y = _table(X, "X"), _table(Y, "Y")
        z = None if Z is None else _table(Z, "Z")
        _same_rows(x, y, z)
        check_rows(x.shape[0])
        weight = None if sample_weight is None else as_weights(sample_weight, torch.from_numpy(x.values))
        if weight is not None:
            if bool((weight == 0).any()):
                kept = (weight > 0).numpy()
                x, y = (Table(t.values[kept], t.names) for t in (x, y))
                z = None if z is None else Table(z.values[kept], z.names)
                weight = weight[weight > 0]
                check_rows(x.shape[0])
            weight = weight.double()
        pairs = [(x, y)] if z is None else [(x, _beside(y, z)), (x, z)]
        found = [self._pair(left, right, weight, settings) for left, right in pairs]
        own = found[0][1] if z is None else found[0][1] - found[1][1]
        widths = [table.shape[1] for table in (x, y, z) if table is not None]
        self._adopt([ratio for ratio, _ in found], *estimate(own, weight), widths, x.shape[0])
        return self

    def pointwise(self, X: Any, Y: Any, Z: Any = None) -> Array:  # noqa: ANN401
        """The pointwise information of every row: log p(x, y)/(p(x)·p(y)); given Z, log p(x, y|z)/(p(x|z)·p(y|z))."""
        check_is_fitted(self)
        given = [_table(t, word) for t, word in ((X, "X"), (Y, "Y"), (Z, "Z")) if t is not None]
        wanted = len(self.widths_)
        if len(given) != wanted:
            message = f"fitted on {wanted} tables ({', '.join('XYZ'[:wanted])}), got {len(given)}"
            raise ValueError(message)
        _same_rows(*given)
        widths = [table.shape[1] for table in given]
        if widths != self.widths_:
            message = f"fitted on tables of {self.widths_} columns, got {widths}"
            raise ValueError(message)
        x, rest = given[0].values, [table.values for table in given[1:]]
        value: Array = self.ratios_[0].log_ratio(np.concatenate([x, *rest], axis=1))
        if len(rest) == 2:
            value = value - self.ratios_[1].log_ratio(np.concatenate([x, rest[1]], axis=1))
        return value

    def matrix(self, X: Any, columns: Any = None) -> InformationMatrix:  # noqa: ANN401
        """The information of every pair of a table's columns, each with its standard error.

        Arguments:
            X: Rows (n, d), two columns or more.
            columns: Which columns, by name or position; all where it is None.
        """
        table = to_table(X)
        table = table if columns is None else table.select(columns)
        return matrix_of(self, table)

    def to_document(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What :func:`equipoise.save` writes."""
        check_is_fitted(self)
        parts = [ratio.to_document() for ratio in self.ratios_]
        tensors = {f"ratio.{i}.{key}": value for i, (_, own) in enumerate(parts) for key, value in own.items()}
        document = {"value": self.value_, "se": self.se_, "widths": self.widths_, "samples": self.n_samples_}
        return {**document, "ratios": [of for of, _ in parts]}, tensors

    @classmethod
    def from_document(cls, document: dict[str, Any], tensors: dict[str, Tensor]) -> Self:
        """What :func:`equipoise.load` reads."""
        ratios = [
            DensityRatio.from_document(each, part(tensors, f"ratio.{i}.")) for i, each in enumerate(document["ratios"])
        ]
        value, se, samples = float(document["value"]), float(document["se"]), int(document["samples"])
        widths = [int(width) for width in document["widths"]]
        columns = [sum(widths), widths[0] + widths[-1]][: len(widths) - 1]
        fits = len(widths) in (2, 3) and min(widths) >= 1 and [ratio.n_features_in_ for ratio in ratios] == columns
        if not (fits and isfinite(value) and isfinite(se) and se >= 0.0):
            message = "the information, its ratios and their columns do not fit together"
            raise ValueError(message)
        model = cls()
        model._adopt(ratios, value, se, widths, samples)
        return model

    def _adopt(self, ratios: list[DensityRatio], value: float, se: float, widths: list[int], n: int) -> None:
        self.ratios_, self.value_, self.se_, self.widths_, self.n_samples_ = ratios, value, se, widths, n
        self.interval_ = value - _TWO_SIDED_95 * se, value + _TWO_SIDED_95 * se
        self.selection_, self.history_ = ratios[0].selection_, ratios[0].history_
        self.warnings_ = list(dict.fromkeys(said for ratio in ratios for said in ratio.warnings_))

    def _pair(self, x: Table, y: Table, weight: Tensor | None, settings: RatioSettings) -> tuple[DensityRatio, Tensor]:
        """The ratio behind the information of two tables, and every row's part in it."""
        n, d = x.shape[0], x.shape[1]
        joint = Side(torch.from_numpy(np.concatenate([x.values, y.values], axis=1)), weight)
        _refuse_constant(joint.rows[:, :d], "X")
        _refuse_constant(joint.rows[:, d:], "Y")
        units = Units.of(joint, joint, ())
        rows = units.standard(joint.rows)
        width = int((units.scale[:d] > 0).sum())
        chosen = plan(n, rows.shape[1], settings.budget, self.validation_fraction).without_densities()
        pairs = in_folds(rows[:, :width], rows[:, width:], weight, chosen.folds, settings.seed)
        whole = Side(rows, weight)
        fitted = fit_ratio(pairs.folds, Sides(whole, whole), settings, chosen)
        ratio = DensityRatio(**self.get_params())
        ratio._adopt(fitted, units, (), list(units.notes))
        ratio.warnings_ = [said for said in ratio.warnings_ if "hardly overlap" not in said]
        if not ratio.reaches_["kl"]:
            ratio.warnings_.append(_STRONG)
        part = influence(fitted.at, pairs, corrected=ratio.reaches_["kl"])
        return (
            ratio,
            part if fitted.different else part - part.mean(),
        )  # no information found, with the error of looking


def _table(given: Any, word: str) -> Table:  # noqa: ANN401
    """A table, or one column as one."""
    flat = getattr(given, "ndim", 2) == 1 and not hasattr(given, "columns")
    if flat or (isinstance(given, list | tuple) and given and not hasattr(given[0], "__len__")):
        given = np.asarray(given).reshape(-1, 1)
    return to_table(given, word)


def _same_rows(*tables: Table | None) -> None:
    rows = {word: t.shape[0] for word, t in zip("XYZ", tables, strict=False) if t is not None}
    if len(set(rows.values())) > 1:
        said = ", ".join(f"{word} has {n:,}" for word, n in rows.items())
        message = f"rows belong together and must be equally many: {said}"
        raise ValueError(message)


def _beside(left: Table, right: Table) -> Table:
    return Table(np.concatenate([left.values, right.values], axis=1))


def _refuse_constant(rows: Tensor, word: str) -> None:
    if not bool((rows.amax(dim=0) > rows.amin(dim=0)).any()):
        message = f"every column of {word} holds one value only: it has no information on anything"
        raise ValueError(message)
