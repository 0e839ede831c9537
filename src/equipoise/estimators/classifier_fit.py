"""How a classifier is fitted: planes compete on held-out rows, and networks are pushed for what they leave over.

    class shares     u_j = log share_j
    planes           u = x·W + b, on columns or on their normal scores
    networks         u = planes + mean over members of network(scores)

The simplest within one standard error of the best is kept, by the log probability of the right class on rows that
neither taught it nor ended its push. Every member holds out other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from equipoise.bases import Marginals
from equipoise.bases.base import row_count
from equipoise.bases.stacking import as_good, weighted_mean
from equipoise.estimators.class_planes import class_planes
from equipoise.estimators.class_rows import ClassRows, folds
from equipoise.estimators.classifier_plan import FEWEST_ROWS, ClassifierPlan, ClassifierSettings, plan
from equipoise.estimators.classifier_push import Member, beside
from equipoise.surfaces import Affine, OnScores, Sum
from equipoise.training.history import History

_CHUNK = 16_384
_MOST_TEACHING = 50_000  # rows that planes are fitted to

SHARES, PLANES, NETWORKS = range(3)  # kinds of candidates, from simple to complex


@dataclass
class Candidate:
    """One way to tell classes apart.

    Arguments:
        name: What it is called.
        kind: How simple it is.
        log_prob: Of the right class, at the rows that judge.
        finish: Makes its surface, should it be kept.
        members: Its surfaces, one for each fold, where it can be a start.
        history: Of its first push.
    """

    name: str
    kind: int
    log_prob: Tensor
    finish: Callable[[], nn.Module]
    members: Sequence[nn.Module] = ()
    history: History | None = None


@dataclass(frozen=True)
class FittedClassifier:
    """A surface over standardised columns, (n, d) → (n, C), and how it was chosen."""

    surface: nn.Module
    selection: list[dict[str, Any]]
    history: History = field(default_factory=History)
    warnings: list[str] = field(default_factory=list)
    n_selecting: int = 0


def fit_classifier(table: ClassRows, settings: ClassifierSettings) -> FittedClassifier:
    """Fit to standardised rows."""
    if table.spare < FEWEST_ROWS:
        return _few(table)
    fit = _Fit(table, settings, plan(len(table), table.spare, settings))
    found = [fit.class_shares(), *fit.planes(on_scores=False), *fit.planes(on_scores=True)]
    weight = fit.judging.weight
    best = _best(found, weight)
    if fit.plan.members and _leaves_over(best, weight):
        found += fit.networks(best)
    kept = simplest(found, weight)
    return FittedClassifier(
        _still(kept.finish()),
        [_row(candidate, weight, kept=candidate is kept) for candidate in found],
        found[-1].history or History(),
        _remarks(kept, found),
        len(fit.judging),
    )


def _few(table: ClassRows) -> FittedClassifier:
    """Planes with the usual penalty, where no row can be spared."""
    surface = _still(_planes(table, 1.0))
    only = Candidate("planes, penalty 1", PLANES, _right(surface(table.rows), table.labels), lambda: surface)
    said = (
        f"{len(table)} rows of {table.classes} classes are too few to hold any out: "
        "planes were fitted to all of them, and scored on the same."
    )
    return FittedClassifier(surface, [_row(only, table.weight, kept=True)], warnings=[said])


class _Fit:
    """Rows, their normal scores, and the folds that all candidates share."""

    def __init__(self, table: ClassRows, settings: ClassifierSettings, chosen: ClassifierPlan) -> None:
        self.settings, self.plan, self.table = settings, chosen, table
        self.columns = Marginals().fit(table.rows, table.weight).columns
        scores = [self.columns.scores(part) for part in table.rows.split(_CHUNK)]
        self.scored = replace(table, rows=torch.cat(scores))
        self.folds = folds(table.labels, chosen.parts, chosen.folds, settings.seed)
        self.judges = torch.cat([fold.judge for fold in self.folds])
        self.judging = table[self.judges]

    def class_shares(self) -> Candidate:
        """Nothing but how many rows a class has."""
        members = [_flat(self.table[fold.teach]) for fold in self.folds]
        return self._judged("class shares", SHARES, members, partial(_flat, self.table))

    def planes(self, *, on_scores: bool) -> list[Candidate]:
        """Planes for every penalty."""
        table = self.scored if on_scores else self.table
        teaching = [table[fold.teach[:_MOST_TEACHING]] for fold in self.folds]
        near: Sequence[Affine | None] = [None] * len(self.folds)
        found = []
        for penalty in self.plan.penalties:
            near = planes = [_planes(part, penalty, begin) for part, begin in zip(teaching, near, strict=True)]
            name = f"planes{' on scores' * on_scores}, penalty {penalty:g}"
            members = [self._on(plane, on_scores=on_scores) for plane in planes]
            found.append(self._judged(name, PLANES, members, partial(self._whole, table, penalty, on_scores=on_scores)))
        return found

    def networks(self, start: Candidate) -> list[Candidate]:
        """A network over the start for each fold, or the user's surface."""
        own, settings = self.settings.surface, self.settings
        seen = self.table if own is not None else self.scored
        surfaces, histories, steps = [], [], self.plan.steps
        for k, (fold, begin) in enumerate(zip(self.folds, start.members, strict=True)):
            heights = _heights(begin, self.table.rows)
            table = beside(seen.rows, heights, self.table)
            surface = self._network(k) if own is None else deepcopy(own)
            member = Member(surface, table[fold.teach], table[fold.watch], settings, self.plan, settings.seed + k)
            if k == 0 and isinstance(settings.budget, float):
                steps = member.steps_in(settings.budget / len(self.folds))
            histories.append(member.push(steps))
            surfaces.append(_still(surface.cpu()))
        name = f"{'networks' if own is None else type(own).__name__} over {start.name}"
        judged = torch.stack(
            [
                _heights(begin, self.judging.rows) + _heights(surface, seen.rows[self.judges])
                for begin, surface in zip(start.members, surfaces, strict=True)
            ]
        )
        own_member = torch.repeat_interleave(
            torch.arange(len(self.folds)), torch.tensor([len(f.judge) for f in self.folds])
        )
        log_prob = unseen_log_prob(judged, own_member, self.judging.labels)
        finish = partial(self._averaged, start, surfaces)
        return [Candidate(name, NETWORKS, log_prob, finish, history=histories[0])]

    def _judged(self, name: str, kind: int, members: Sequence[nn.Module], finish: Callable[[], nn.Module]) -> Candidate:
        heights = [_heights(each, self.table.rows[fold.judge]) for each, fold in zip(members, self.folds, strict=True)]
        return Candidate(name, kind, _right(torch.cat(heights), self.judging.labels), finish, members)

    def _on(self, surface: nn.Module, *, on_scores: bool) -> nn.Module:
        return _still(OnScores(surface, self.columns) if on_scores else surface)

    def _whole(self, table: ClassRows, penalty: float, *, on_scores: bool) -> nn.Module:
        """Planes fitted to all rows."""
        return self._on(_planes(table, penalty), on_scores=on_scores)

    def _network(self, k: int) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed + k)
            return self.plan.network(self.table.rows.shape[1], self.table.classes)

    def _averaged(self, start: Candidate, surfaces: list[Any]) -> nn.Module:
        """The start's members, and the surfaces over them, averaged in their heights."""
        if self.settings.surface is not None:
            return Sum(_mean(start.members), *surfaces)
        for surface in surfaces:
            for weight in surface.last.parameters():
                weight.div_(len(surfaces))
        return Sum(_mean(start.members), OnScores(Sum(*surfaces), self.columns))


def unseen_log_prob(heights: Tensor, unseen_by: Tensor, labels: Tensor) -> Tensor:
    """The log probability of the right class under the members' mean heights, as if no member had seen the row.

        log p_mean(y | x) = mean_m log p_m(y | x) + gap(x),   gap = mean_m logsumexp u_m − logsumexp mean_m u_m ≥ 0

    The gap knows no label, so that members who have seen the row may tell it; they agree more there than on new rows,
    which makes it too small, if anything. The first term is taken at the member that has not seen the row.

    Arguments:
        heights: Of all members, (M, n, C).
        unseen_by: The member that has not seen the row, (n,).
        labels: (n,).
    """
    gap = torch.logsumexp(heights, dim=2).mean(dim=0) - torch.logsumexp(heights.mean(dim=0), dim=1)
    return _right(heights[unseen_by, torch.arange(len(labels))], labels) + gap


def simplest(found: Sequence[Candidate], weight: Tensor) -> Candidate:
    """The best of the simplest kind that is as good as the best of all, within one standard error."""
    best = _best(found, weight)
    leading = [_best([c for c in found if c.kind == kind], weight) for kind in sorted({c.kind for c in found})]
    return next(c for c in leading if as_good(best.log_prob, c.log_prob, weight))


def _best(found: Sequence[Candidate], weight: Tensor) -> Candidate:
    return max(found, key=lambda candidate: weighted_mean(candidate.log_prob, weight)[0])


def _leaves_over(start: Candidate, weight: Tensor) -> bool:
    """Whether certainty would be better by more than a standard error, and than n rows can tell from 1 − 1/n."""
    score, se = weighted_mean(start.log_prob, weight)
    return -score > se + 1.0 / len(weight)


def _planes(table: ClassRows, penalty: float, begin: Affine | None = None) -> Affine:
    """Planes under a penalty that is as heavy as so many rows."""
    share = table.share
    return class_planes(table.rows, table.labels, share, table.classes, penalty / row_count(share), begin)


def _flat(table: ClassRows) -> nn.Module:
    """Planes without slopes, at the classes' shares."""
    return _still(Affine.of(table.rows.new_zeros(table.rows.shape[1], table.classes), torch.log(table.shares)))


def _mean(members: Sequence[nn.Module]) -> nn.Module:
    """The mean of surfaces that are linear in their parameters."""
    mean = deepcopy(members[0])
    for weight, *all_of_it in zip(mean.parameters(), *(member.parameters() for member in members), strict=True):
        weight.copy_(torch.stack(all_of_it).mean(dim=0))
    return mean


def _still(surface: nn.Module) -> nn.Module:
    """A surface that only scores, in float64."""
    return surface.double().train(mode=False).requires_grad_(requires_grad=False)


def _heights(surface: nn.Module, rows: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.cat([surface(part) for part in rows.split(_CHUNK)])


def _right(heights: Tensor, labels: Tensor) -> Tensor:
    """The log probability of the right class."""
    return torch.log_softmax(heights, dim=1).gather(1, labels.unsqueeze(1)).squeeze(1)


def _row(candidate: Candidate, weight: Tensor, *, kept: bool) -> dict[str, Any]:
    score, se = weighted_mean(candidate.log_prob, weight)
    return {"name": candidate.name, "score": score, "se": se, "weight": float(kept)}


def _remarks(kept: Candidate, found: Sequence[Candidate]) -> list[str]:
    """What a user should know, in sentences."""
    said = []
    if kept.kind == SHARES:
        said.append("Nothing told the classes apart on held-out rows: every row is given the shares of the classes.")
    elif kept.kind == PLANES and found[-1].kind == NETWORKS:
        said.append("Networks told held-out rows no better apart than planes do: planes are the answer.")
    return said
