"""A normalising flow, from zuko: an invertible network carries the rows to a Gaussian.

    log p(x) = log N(f(x); 0, 1) + log |det ∂f/∂x|,   joined by a wide Gaussian of weight 1/(n + 2)

Trained by maximum likelihood on nine tenths of the rows until the last tenth has stopped to gain. The wide Gaussian
holds what a flow now and then loses altogether.
"""

from __future__ import annotations

from copy import deepcopy
from math import ceil, inf, isfinite, log, pi
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters

from equipoise.bases.base import Base, refuse_constant, row_count
from equipoise.bases.fitted import is_share

_KINDS = ("maf", "nsf")
_CHUNK = 4096
_SCORES = 60  # of the held-out rows, over all steps
_PATIENCE = 8
_WIDER = 3.0  # the wide Gaussian's deviation, in the rows'
_MOST_HELD_OUT = 10_000


class Flow(Base):
    """A masked autoregressive flow, affine or of rational-quadratic splines. Needs ``pip install "equipoise[flow]"``.

    Arguments:
        kind: ``"maf"`` (affine, fast) or ``"nsf"`` (splines).
        transforms: How many follow each other.
        width: Of both hidden layers of each.
        steps: At most so many; by the number of rows where it is None.
        batch: Rows a step.
        learning_rate: Of Adam, falling to zero as a cosine.
        seed: Seeds weights and batches.
    """

    fitted: ClassVar[tuple[str, ...]] = ("mean_", "scale_", "weights_", "defence_")

    def __init__(
        self,
        kind: str = "maf",
        transforms: int = 5,
        width: int = 128,
        *,
        steps: int | None = None,
        batch: int = 500,
        learning_rate: float = 2e-3,
        seed: int = 0,
    ) -> None:
        if kind not in _KINDS:
            message = f"kind must be one of {', '.join(_KINDS)}; got {kind!r}"
            raise ValueError(message)
        if not all(isinstance(count, int) and count >= 1 for count in (transforms, width, batch)):
            message = f"transforms, width and batch must be positive integers; got {transforms}, {width}, {batch}"
            raise ValueError(message)
        self.kind, self.transforms, self.width = kind, transforms, width
        self.steps, self.batch, self.learning_rate, self.seed = steps, batch, learning_rate, seed
        self._modules: dict[torch.dtype, nn.Module] = {}

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("kind", "transforms", "width", "steps", "batch", "learning_rate", "seed")
        return {name: getattr(self, name) for name in names}

    def load_state(self, state: dict[str, Tensor]) -> Flow:
        """Take fitted tensors over from :meth:`state`."""
        self._modules.clear()
        return super().load_state(state)

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        rows, share = rows[share > 0], share[share > 0]
        refuse_constant(rows.amax(dim=0) > rows.amin(dim=0))
        self._modules.clear()
        self.mean_ = share @ rows
        self.scale_ = torch.sqrt(share @ (rows - self.mean_) ** 2)
        self.defence_ = torch.tensor(1.0 / (row_count(share) + 2.0), dtype=torch.float64)
        standard = ((rows - self.mean_) / self.scale_).to(torch.float32)
        generator = torch.Generator().manual_seed(self.seed)
        order = torch.randperm(len(rows), generator=generator)
        cut = min(max(1, len(rows) // 10), _MOST_HELD_OUT)
        flow = self._built(rows.shape[1])
        _train(flow, standard[order], len(rows) * share[order].to(torch.float32), cut, self, generator)
        self.weights_ = parameters_to_vector(flow.parameters()).detach().double()

    def _is_density(self) -> bool:
        d, room = self.mean_.shape, self.weights_.numel()
        fits = len(d) == 1 and self.scale_.shape == d and bool((self.scale_ > 0).all()) and is_share(self.defence_)
        least = self.transforms * self.width * (self.width + len(self.mean_))  # before anything so large is built
        return fits and least <= room and room == sum(p.numel() for p in self._built(len(self.mean_)).parameters())

    def _built(self, features: int) -> nn.Module:
        """The network, its first weights set by the seed."""
        try:
            from zuko import flows
        except ImportError:
            message = 'a Flow needs zuko: pip install "equipoise[flow]"'
            raise ImportError(message) from None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            make = flows.MAF if self.kind == "maf" else flows.NSF
            flow: nn.Module = make(features, transforms=self.transforms, hidden_features=(self.width, self.width))
        return flow

    def _module(self, dtype: torch.dtype) -> Any:  # noqa: ANN401  # zuko's flows are called without an argument
        if dtype not in self._modules:
            flow = self._built(self.features).to(dtype)
            vector_to_parameters(self.weights_.to(dtype), flow.parameters())
            self._modules[dtype] = flow.requires_grad_(requires_grad=False)
        return self._modules[dtype]

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        flow = self._module(torch.float64)()
        noise = torch.randn(n, self.features, generator=generator, dtype=torch.float64)
        defended = torch.rand(n, 1, generator=generator, dtype=torch.float64) < self.defence_
        rows = torch.cat([flow.transform.inv(part) for part in noise.split(_CHUNK)])
        return (self.mean_ + self.scale_ * torch.where(defended, _WIDER * noise, rows)).to(dtype)

    def _log_prob(self, x: Tensor) -> Tensor:
        flow = self._module(torch.float64)()
        parts = [self._scored(flow, (part.to(torch.float64) - self.mean_) / self.scale_) for part in x.split(_CHUNK)]
        return (torch.cat(parts) - torch.log(self.scale_).sum()).to(x.dtype)

    def _scored(self, flow: Any, standard: Tensor) -> Tensor:  # noqa: ANN401
        found = torch.nan_to_num(flow.log_prob(standard), nan=-inf, posinf=-inf)
        constant = standard.shape[1] * (log(_WIDER) + 0.5 * log(2.0 * pi))
        wide = torch.log(self.defence_) - 0.5 * (standard / _WIDER).square().sum(dim=1) - constant
        return torch.logaddexp(found + torch.log1p(-self.defence_), wide)


def _train(flow: Any, rows: Tensor, weight: Tensor, cut: int, settings: Flow, generator: Generator) -> None:  # noqa: ANN401
    """Maximum likelihood on rows[cut:]; the flow is left at the weights that scored rows[:cut] best."""
    steps = settings.steps or int(min(max(len(rows) // 10, 500), 4_000))
    optimizer = torch.optim.Adam(flow.parameters(), settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    every, best, since, state = ceil(steps / _SCORES), -inf, 0, deepcopy(flow.state_dict())
    learned = len(rows) - cut
    for step in range(1, steps + 1):
        index = cut + torch.randint(learned, (min(settings.batch, learned),), generator=generator)
        loss = -(weight[index] * flow().log_prob(rows[index])).mean()
        optimizer.zero_grad()
        if isfinite(loss.item()):
            loss.backward()
            clip_grad_norm_(flow.parameters(), 5.0)
            optimizer.step()
        schedule.step()
        if step % every == 0:
            score = _held_out(flow, rows[:cut], weight[:cut])
            best, since, state = (score, 0, deepcopy(flow.state_dict())) if score > best else (best, since + 1, state)
            if since >= _PATIENCE:
                break
    flow.load_state_dict(state)


@torch.no_grad()
def _held_out(flow: Any, rows: Tensor, weight: Tensor) -> float:  # noqa: ANN401
    """The weighted mean log density, a lost row counting no more than a defended one would."""
    log_prob = torch.cat([flow().log_prob(part) for part in rows.split(_CHUNK)]).nan_to_num(nan=-1e3).clamp(min=-1e3)
    return (weight @ log_prob / weight.sum()).item()
