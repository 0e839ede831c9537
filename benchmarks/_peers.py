"""What others would use for a density: kernels, mixtures, flows; each tuned on held-out rows within a time limit.

    fit(rows, seconds, seed) → score(rows) → (n,) log densities

All peers see standardised columns, keep a tenth of the rows to choose by, and try several settings while time is left.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from time import process_time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[np.float64]
Score = Callable[[Array], Array]

KDE_CHOOSING_ROWS = 1_000
KDE_FACTORS = np.geomspace(0.1, 2.0, 16)  # of Scott's bandwidth
GMM_SIZES = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 25, 30, 40)
GMM_PATIENCE = 3
FLOW_PATIENCE = 12
FLOW_EPOCHS = 400
FLOWS: dict[str, list[dict[str, Any]]] = {  # tried in this order; each may take its share of the time
    "nsf": [
        {"transforms": 3, "bins": 8, "hidden_features": (64, 64)},
        {"transforms": 4, "bins": 8, "hidden_features": (128, 128)},
    ],
    "maf": [
        {"transforms": 5, "hidden_features": (64, 64)},
        {"transforms": 5, "hidden_features": (128, 128)},
    ],
}


class Deadline:
    """A limit in processor seconds, which for one thread are those of a machine that does nothing else."""

    def __init__(self, seconds: float) -> None:
        self.end = process_time() + seconds

    @property
    def left(self) -> float:
        return self.end - process_time()


def fit_peer(name: str, rows: Array, seconds: float, seed: int) -> tuple[Score, dict[str, Any]]:
    """Fit a peer by name; return its score and what it chose."""
    shift, scale = rows.mean(axis=0), rows.std(axis=0)
    units = np.log(scale).sum()
    order = np.random.default_rng(seed).permutation(len(rows))
    standard = ((rows - shift) / scale)[order]
    cut = max(20, len(rows) // 10)
    score, chosen = PEERS[name](standard[cut:], standard[:cut], Deadline(seconds), seed)
    return lambda x: score((np.asarray(x, dtype=np.float64) - shift) / scale) - units, chosen


def kernel_density(train: Array, held_out: Array, deadline: Deadline, seed: int) -> tuple[Score, dict[str, Any]]:
    """A Gaussian kernel whose bandwidth held-out rows choose, on standardised or on whitened columns."""
    from sklearn.neighbors import KernelDensity

    n, d = train.shape
    scott = n ** (-1.0 / (d + 4))
    judges = held_out[:KDE_CHOOSING_ROWS]
    white = np.linalg.inv(np.linalg.cholesky(np.cov(train.T).reshape(d, d) + 1e-9 * np.eye(d))).T
    best, best_score, tried = None, -np.inf, 0
    for matrix, name in ((np.eye(d), "standardised"), (white, "whitened")):
        log_det = np.linalg.slogdet(matrix)[1]
        for factor in _from_the_middle(KDE_FACTORS):
            if tried and deadline.left < 0.0:
                break
            model = KernelDensity(bandwidth=factor * scott, rtol=1e-4).fit(train @ matrix)
            value = model.score_samples(judges @ matrix).mean() + log_det
            tried += 1
            if value > best_score:
                best, best_score = (matrix, log_det, name, factor * scott), value
    matrix, log_det, name, bandwidth = best
    model = KernelDensity(bandwidth=bandwidth, rtol=1e-4).fit(np.concatenate([train, held_out]) @ matrix)
    chosen = {"space": name, "bandwidth": bandwidth, "tried": tried, "of": 2 * len(KDE_FACTORS)}
    return lambda x: model.score_samples(x @ matrix) + log_det, chosen


def gaussian_mixture(train: Array, held_out: Array, deadline: Deadline, seed: int) -> tuple[Score, dict[str, Any]]:
    """Full covariances, their number by BIC; the search ends where BIC has risen three times in a row."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    rows = np.concatenate([train, held_out])  # BIC needs no held-out rows
    starts = 2 if len(rows) <= 10_000 else 1
    best, best_bic, risen, last = None, np.inf, 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k in (k for k in GMM_SIZES if k == 1 or k * (rows.shape[1] + 1) <= len(rows)):
            if risen >= GMM_PATIENCE or deadline.left < 0.0:
                break
            model = GaussianMixture(k, max_iter=200, n_init=starts, random_state=seed).fit(rows)
            bic, last = model.bic(rows), k
            risen = 0 if bic < best_bic else risen + 1
            if bic < best_bic:
                best, best_bic = model, bic
    return best.score_samples, {"components": best.n_components, "largest tried": last}


def flow(kind: str) -> Callable[[Array, Array, Deadline, int], tuple[Score, dict[str, Any]]]:
    """A zuko flow: several sizes, early stopping on held-out rows, the best kept."""

    def fit(train: Array, held_out: Array, deadline: Deadline, seed: int) -> tuple[Score, dict[str, Any]]:
        best, best_loss, chosen, runs = None, np.inf, {}, []
        settings = FLOWS[kind]
        for number, setting in enumerate(settings):
            share = deadline.left / (len(settings) - number)
            if best is not None and share < 1.0:
                break
            model, loss, epochs = _train_flow(kind, setting, train, held_out, share, seed)
            runs.append({**setting, "loss": loss, "epochs": epochs})
            if loss < best_loss:
                best, best_loss, chosen = model, loss, setting
        return lambda x: _score_flow(best, x), {**chosen, "runs": runs}

    return fit


def _train_flow(
    kind: str, setting: dict[str, Any], train: Array, held_out: Array, seconds: float, seed: int
) -> tuple[Any, float, int]:
    import zuko

    torch.manual_seed(seed)
    model = getattr(zuko.flows, kind.upper())(train.shape[1], **setting)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=FLOW_PATIENCE // 3)
    x, judges = torch.from_numpy(train).float(), torch.from_numpy(held_out).float()
    batch = int(np.clip(len(x) // 20, 64, 512))
    deadline = Deadline(seconds)
    best, best_loss, since, epoch = deepcopy(model.state_dict()), np.inf, 0, 0
    for epoch in range(1, FLOW_EPOCHS + 1):  # noqa: B007  # reported
        for index in torch.randperm(len(x)).split(batch):
            loss = -model().log_prob(x[index]).mean()
            if not torch.isfinite(loss):
                continue
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            if deadline.left < 0.0:
                break
        value = -float(np.mean(_score_flow(model, judges.numpy())))
        schedule.step(value)
        since = 0 if value < best_loss else since + 1
        if value < best_loss:
            best, best_loss = deepcopy(model.state_dict()), value
        if deadline.left < 0.0 or since >= FLOW_PATIENCE:
            break
    model.load_state_dict(best)
    return model, best_loss, epoch


def _score_flow(model: Any, x: Array) -> Array:
    with torch.no_grad():
        parts = [model().log_prob(part) for part in torch.as_tensor(x, dtype=torch.float32).split(8192)]
    return torch.cat(parts).double().numpy()


def _from_the_middle(values: Array) -> Iterator[float]:
    """Values from the middle outwards, so that a search cut short has seen the likely ones."""
    middle = (len(values) - 1) / 2
    yield from sorted(values, key=lambda v: abs(np.searchsorted(values, v) - middle))


PEERS: dict[str, Callable[[Array, Array, Deadline, int], tuple[Score, dict[str, Any]]]] = {
    "kde": kernel_density,
    "gmm": gaussian_mixture,
    "nsf": flow("nsf"),
    "maf": flow("maf"),
}
