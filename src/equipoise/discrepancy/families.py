"""What ``auto`` asks, in four families, and how several answers become one.

    T = max_f −log(p_f / w_f),   p_f the family's p-value by its largest statistic

Families are weighted, not their members: a further kernel makes no other question count for less. Shifts have the
largest weight, being what most samples differ by, and what every other test finds as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from equipoise.discrepancy import classifier_statistic as classifier, column_statistics as columns
from equipoise.discrepancy.calibration import largest, smallest, standard_scores
from equipoise.discrepancy.comparison import Comparison, Statistic
from equipoise.discrepancy.kernel_statistics import energy, kernel_gap

Ask = Callable[[Comparison], Statistic]


@dataclass(frozen=True)
class Family:
    """Statistics that ask much the same.

    Arguments:
        name: What they ask.
        weight: Of the family.
        members: The statistics; those of pairs need two columns.
    """

    name: str
    weight: float
    members: tuple[Ask, ...]


def _kernel(kind: str, times: float) -> Ask:
    return partial(kernel_gap, kind=kind, times=times)


KERNELS = tuple(_kernel(*k) for k in (("laplacian", 0.25), ("laplacian", 0.5), ("laplacian", 1.0), ("gaussian", 0.25)))
WIDE = (_kernel("gaussian", 0.5), _kernel("gaussian", 1.0))

SHIFT = Family("shift", 4.0, (classifier.linear, columns.column_shift, energy))
SHAPE = Family("shape of a column", 1.0, (columns.column_ranks, columns.column_scores))
DEPENDENCE = Family("dependence", 1.0, (columns.pair_largest, columns.pair_sum, classifier.quadratic))
ANYTHING = Family("anything", 1.0, KERNELS)

CHOICES = {
    "auto": (SHIFT, SHAPE, DEPENDENCE, ANYTHING),
    "mmd": (Family("mmd", 1.0, (*KERNELS, *WIDE)),),
    "energy": (Family("energy", 1.0, (energy,)),),
    "classifier": (Family("classifier", 1.0, (classifier.linear, classifier.quadratic)),),
    "columns": (
        Family(
            "columns", 1.0, (columns.column_shift, columns.column_scale, columns.column_ranks, columns.column_scores)
        ),
    ),
}


@dataclass(frozen=True)
class Answer:
    """What a family found: its statistics, and their largest as a standard score under every labelling."""

    family: Family
    statistics: tuple[Statistic, ...]
    score: Tensor

    @property
    def strongest(self) -> Statistic:
        """The statistic that stands out most under the true labels."""
        return max(self.statistics, key=lambda statistic: float(standard_scores(statistic.values)[0]))


def ask(comparison: Comparison, families: tuple[Family, ...]) -> list[Answer]:
    """Ask every family."""
    answers = []
    for family in families:
        members = [member for member in family.members if comparison.pooled.shape[1] > 1 or member not in _OF_PAIRS]
        statistics = tuple(member(comparison) for member in members)
        answers.append(Answer(family, statistics, largest([s.values for s in statistics])))
    return answers


def joined(answers: list[Answer]) -> Tensor:
    """All answers as one statistic, (B + 1,)."""
    return smallest([answer.score for answer in answers], [answer.family.weight for answer in answers])


_OF_PAIRS = (columns.pair_largest, columns.pair_sum)
