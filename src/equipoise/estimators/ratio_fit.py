"""How a log ratio is fitted: starts compete on held-out rows, a surface is pushed over the best, and a pool keeps them.

    within a fold   L = Σ_j w_j·L_j,   w ≥ 0, Σ w = 1 or 0, by the held-out score; rows that choose are not pushed
    over folds      the mean; claims are made from every row's log ratio by the fold that has not seen it

Everything happens in standardised columns and their normal scores, which no stretching of single columns changes.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from equipoise import catalog
from equipoise.bases import Marginals
from equipoise.bases.columns import Columns
from equipoise.estimators.ratio_plan import Plan
from equipoise.estimators.ratio_settings import RatioSettings
from equipoise.instance import Instance
from equipoise.ratios import Bridge, Discriminant, Over, Pool, Side, Sides
from equipoise.ratios.bridge import waypoints
from equipoise.ratios.over import FARTHEST, Beside
from equipoise.ratios.pooled import Folds
from equipoise.ratios.score import BLIND, FAR, LogRatios, pool_weights
from equipoise.ratios.sides import Fold
from equipoise.ratios.starts import LogRatio, densities, discriminants, side_scores
from equipoise.sources.labelled import Labelled
from equipoise.sources.pair import Draws, Pair
from equipoise.sources.rows import Rows
from equipoise.surfaces import OnScores
from equipoise.training.budget import steps_of
from equipoise.training.history import History
from equipoise.training.monitor import CrossEntropy, Logistic
from equipoise.training.progress import Progress
from equipoise.training.push import PushDivergedError, push
from equipoise.training.watch import Monitor

WAY = 4  # steps of a bridge
_SCORES, _PATIENCE = 40, 8


@dataclass
class Tried:
    """A candidate within a fold: its model, its log ratios at the rows that choose, its role, alike in all folds."""

    name: str
    model: LogRatio
    chosen_on: LogRatios
    history: History | None = None
    role: str = ""

    @property
    def score(self) -> tuple[float, float]:
        """Its held-out score and the standard error."""
        return self.chosen_on.score()


@dataclass(frozen=True)
class FittedRatio:
    """A fitted log ratio, and what rows say that it has not seen.

    Arguments:
        folds: One pool per fold.
        at: Log ratios of all rows, each from the fold that has not seen it.
        selection: Every candidate: its score, standard error and weight, as means over the folds.
        instance: Whose forces pushed.
        history: Of the first fold's push.
        bridged: Whether bridges were tried.
        different: Whether the sides could be told apart on rows not seen; where not, the folds say that r = 1, and
            ``at`` still holds what they would have said.
    """

    folds: Folds
    at: LogRatios
    selection: list[dict[str, Any]]
    instance: Instance
    history: History = field(default_factory=History)
    bridged: bool = False
    different: bool = True


def fit_ratio(parts: list[Fold], whole: Sides, settings: RatioSettings, plan: Plan) -> FittedRatio:
    """Fit a pool to each fold, and look at the rows that each has not seen; ``whole`` are all rows."""
    columns = Marginals().fit(whole.pooled.rows, whole.pooled.share).columns  # of both sides: it knows of no difference
    within = [_Fold(fold.seen, columns, settings, plan, k) for k, fold in enumerate(parts)]
    tried = [fold.tried() for fold in within]
    pools = _pools(tried, [fold.choose for fold in within])
    pools = [pool.within(fold.seen) for pool, fold in zip(pools, parts, strict=True)]
    at = _unseen(parts, pools)
    different = at.tells_apart()
    return FittedRatio(
        Folds(tuple(pools) if different else (Pool((), (), ()),)),
        at,
        _selection(tried, pools, different=different),
        settings.instance,
        next((c.history for c in reversed(tried[0]) if c.history is not None), History()),
        any(isinstance(c.model, Bridge) for candidates in tried for c in candidates),
        different,
    )


class _Fold:
    """One fold: rows that teach, rows that end the pushes, and rows that choose; in columns and in normal scores."""

    def __init__(self, seen: Sides, columns: Columns, settings: RatioSettings, plan: Plan, k: int) -> None:
        self.columns, self.settings, self.plan = columns, settings, plan
        self.seed = settings.seed + k
        self.teach, held_out = seen.split(plan.selecting, self.seed)
        self.watch, self.choose = held_out.split(0.5, self.seed)  # what ends a push must not choose it
        self.scores_teach, self.scores_watch = (side_scores(columns, part) for part in (self.teach, self.watch))

    def tried(self) -> list[Tried]:
        """Every candidate."""
        starts = [
            *discriminants(self.teach, self.scores_teach, self.columns),
            *densities(self.teach, self.plan.densities),
        ]
        found = [self._judged(start.name, start.model) for start in starts]
        if not self.plan.steps:
            return found
        best = max(found, key=lambda c: c.score[0])
        if self.settings.surface is not None:
            return found + self._pushed(best, deepcopy(self.settings.surface), on_scores=False)
        found += self._pushed(best, self._network(), on_scores=True)
        found += self._pushed(None, self._network(), on_scores=True)
        if best.score[0] > FAR:
            found += [self._bridge(on_scores) for on_scores in (False, True)]
        return found

    def _judged(self, name: str, model: LogRatio, history: History | None = None, role: str = "") -> Tried:
        num, den = (model.log_ratio(side.rows) for side in self.choose.both)
        return Tried(name, model, LogRatios.at(num, den, self.choose), history, role or name)

    def _network(self, outputs: int = 1) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return self.plan.surface(self.teach.num.rows.shape[1], outputs)

    def _pushed(self, start: Tried | None, surface: nn.Module, *, on_scores: bool) -> list[Tried]:
        """A surface over a start, or over nothing; none where its forces blew up."""
        instance, device = self.settings.instance, self.settings.device
        teach, watch = (
            _beside(*parts, start, device)
            for parts in (
                (self.teach, self.scores_teach if on_scores else self.teach),
                (self.watch, self.scores_watch if on_scores else self.watch),
            )
        )
        pair = Pair(*(Rows(side.rows, side.weight) for side in teach.both))
        monitor = Logistic(
            instance, watch.num.rows, watch.den.rows, up_weight=watch.num.weight, down_weight=watch.den.weight
        )
        try:
            history = self._push(Beside(surface, instance).to(device), instance, pair, monitor)
        except PushDivergedError:
            return []
        surface = surface.cpu().double().train(mode=False)
        if on_scores:
            surface = OnScores(surface, self.columns).train(mode=False)
        over = Discriminant(surface) if start is None else Over(start.model, surface)
        name = f"{instance.label} {'alone' if start is None else f'over {start.name}'}"
        return [self._judged(name, over, history, role="alone" if start is None else "over the best")]

    def _bridge(self, on_scores: bool) -> Tried:
        """All steps on the way between the sides at once."""
        generator = torch.Generator().manual_seed(self.seed)
        teach, watch = (self.scores_teach, self.scores_watch) if on_scores else (self.teach, self.watch)
        rows, labels, weight = waypoints(teach, WAY, generator)
        held_out, classes, share = waypoints(watch, WAY, generator)
        device = self.settings.device
        surface = self._network(WAY + 1).to(device)
        monitor = CrossEntropy(held_out.float().to(device), classes.to(device), share)
        instance = catalog.get("softmax_cross_entropy", norm=1.0)
        history = self._push(surface, instance, Labelled(rows.float(), labels.numpy(), weight), monitor)
        surface = surface.cpu().double().train(mode=False)
        if on_scores:
            surface = OnScores(surface, self.columns).train(mode=False)
        return self._judged(f"bridge of {WAY} steps{' on scores' if on_scores else ''}", Bridge(surface), history)

    def _push(self, surface: nn.Module, instance: Instance, pair: Draws, monitor: Monitor) -> History:
        plan, seconds = self.plan, self.settings.budget
        move = partial(
            push,
            instance=instance,
            pair=pair,
            n_up=plan.n_up,
            learning_rate=plan.learning_rate,
            optimizer="adamw",
            weight_decay=plan.weight_decay,
            average=0.99,
            seed=self.seed,
        )
        steps = plan.steps
        if isinstance(seconds, float):
            share = f"{seconds / (2 * plan.folds)}s"
            steps = steps_of(share, lambda count: move(deepcopy(surface), steps=count))
        with Progress(steps, visible=self.settings.verbose > 0) as progress:
            return move(
                surface,
                steps=steps,
                record_every=max(1, steps // 100),
                monitor=monitor,
                monitor_every=max(1, steps // _SCORES),
                patience=_PATIENCE,
                callbacks=[progress],
            )


def _beside(rows: Sides, seen: Sides, start: Tried | None, device: str) -> Sides:
    """Rows as the surface sees them, each with its start in a last column."""
    sides = []
    for own, view in zip(rows.both, seen.both, strict=True):
        begin = torch.zeros(len(own), dtype=torch.float64) if start is None else start.model.log_ratio(own.rows)
        table = torch.cat([view.rows, begin.clamp(-FARTHEST, FARTHEST).unsqueeze(1)], dim=1)
        weight = None if own.weight is None else own.weight.float().to(device)
        sides.append(Side(table.float().to(device), weight))
    return Sides(*sides)


def _pools(tried: list[list[Tried]], choose: list[Sides]) -> list[Pool]:
    """Every fold's pool: weights from all folds' rows that choose, but for those which the fold itself holds out."""
    roles = [c.role for c in tried[0] if all(any(c.role == other.role for other in others) for others in tried)]
    chosen = [[next(c for c in candidates if c.role == role) for role in roles] for candidates in tried]
    pools = []
    for k, candidates in enumerate(chosen):
        sides = []
        for side in ("num", "den"):
            seen = [getattr(part, side).seen_by(k) for part in choose]
            values = [torch.stack([getattr(c.chosen_on, side) for c in own]) for own in chosen]
            table = torch.cat([part[:, keep] for part, keep in zip(values, seen, strict=True)], dim=1)
            share = torch.cat([getattr(part, side).share[keep] for part, keep in zip(choose, seen, strict=True)])
            sides.append((table, share / share.sum()))
        (num, num_share), (den, den_share) = sides
        weights = pool_weights((num, den), (num_share, den_share))
        kept = [(c, w) for c, w in zip(candidates, weights.tolist(), strict=True) if w > 0.0]
        kept.sort(key=lambda pair: -pair[1])
        pools.append(Pool(tuple(c.model for c, _ in kept), tuple(w for _, w in kept), tuple(c.name for c, _ in kept)))
    return pools


def _unseen(parts: list[Fold], pools: list[Pool]) -> LogRatios:
    """Log ratios of all rows, in the order of their tables, each from the pool that has not seen it."""
    values = []
    for side in ("num", "den"):
        at = torch.cat([getattr(fold, f"{side}_at") for fold in parts])
        held_out = [getattr(fold.held_out, side) for fold in parts]
        found = torch.cat([pool.log_ratio(part.rows) for pool, part in zip(pools, held_out, strict=True)])
        weight = None if held_out[0].weight is None else torch.cat([part.weight for part in held_out])
        order = torch.argsort(at)
        values.append((found[order], None if weight is None else weight[order]))
    (num, num_weight), (den, den_weight) = values
    return LogRatios(num, den, num_weight, den_weight)


def _selection(tried: list[list[Tried]], pools: list[Pool], *, different: bool) -> list[dict[str, Any]]:
    """Every candidate with its score and weight, means over the folds that tried it; L = 0 stands first."""
    names = list(dict.fromkeys(c.name for candidates in tried for c in candidates))
    given = [dict(zip(pool.names, pool.weights, strict=True)) if different else {} for pool in pools]
    rows = [{"name": "no difference", "score": BLIND, "se": 0.0, "weight": 0.0 if different else 1.0}]
    for name in names:
        scores = [c.score for candidates in tried for c in candidates if c.name == name]
        k = len(scores)
        se = sum(se**2 for _, se in scores) ** 0.5 / k
        weight = sum(weights.get(name, 0.0) for weights in given) / len(pools)
        rows.append({"name": name, "score": sum(score for score, _ in scores) / k, "se": se, "weight": weight})
    return rows
