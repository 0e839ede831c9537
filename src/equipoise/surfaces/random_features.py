"""A surface of random waves, whose products approach a kernel as there are more of them.

    u(x) = ⟨a, φ(x)⟩ + b,   φ(x) = [cos(Ωx), sin(Ωx)] / √m,   ⟨φ(x), φ(x′)⟩ = (1/m) Σ_j cos(ω_j·(x − x′)) → k(x, x′)

The error falls as 1/√m whatever the rows (Rahimi and Recht 2007). Where a Kernel's bumps stand at centres and fade
beyond them, waves reach everywhere.
"""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor, nn

from equipoise.surfaces.blueprint import saved_as
from equipoise.surfaces.field import COUNT
from equipoise.surfaces.kernel import resolve_bandwidth
from equipoise.surfaces.radial import check_bandwidth, radial
from equipoise.surfaces.rows import check_rows


@saved_as("random_features", features=COUNT, waves=COUNT, outputs=COUNT)
class RandomFeatures(nn.Module):
    """Waves of random frequencies, flat at zero to begin with.

    Arguments:
        features: Columns of a row.
        waves: Frequencies m; each brings a cosine and a sine.
        bandwidth: The kernel's width h, one for all columns.
        kind: ``"gaussian"`` or ``"laplacian"``; the second has far higher frequencies among its waves.
        outputs: Heights per row; one gives (n,), more give (n, outputs).
        seed: Seeds the frequencies; a fresh seed where it is None.
    """

    frequencies: Tensor

    def __init__(
        self,
        features: int,
        waves: int = 500,
        bandwidth: float = 1.0,
        kind: str = "gaussian",
        outputs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        if min(features, waves, outputs) < 1:
            message = f"features, waves and outputs must be at least 1, got {features}, {waves}, {outputs}"
            raise ValueError(message)
        check_bandwidth(bandwidth)
        generator = torch.Generator()
        generator.manual_seed(seed) if seed is not None else generator.seed()
        z, g = torch.randn(waves, features, generator=generator), torch.randn(waves, 1, generator=generator)
        self.register_buffer("frequencies", radial(kind).frequencies(z, g) / bandwidth)
        self.weights = nn.Parameter(torch.zeros(2 * waves, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    @classmethod
    def on_rows(
        cls,
        rows: Tensor,
        waves: int = 500,
        *,
        bandwidth: float | str = "median",
        kind: str = "gaussian",
        outputs: int = 1,
        seed: int | None = None,
    ) -> RandomFeatures:
        """Waves for rows (n, d), by default as wide as the median distance between two of them."""
        generator = torch.Generator()
        generator.manual_seed(seed) if seed is not None else generator.seed()
        return cls(rows.shape[1], waves, resolve_bandwidth(bandwidth, rows, generator), kind, outputs, seed)

    @property
    def spec(self) -> dict[str, object]:
        """The sizes; bandwidth and kind are in the frequencies."""
        waves, features = self.frequencies.shape
        return {"features": features, "waves": waves, "outputs": self.weights.shape[1]}

    @staticmethod
    def numbers(*, features: int, waves: int, outputs: int) -> int:
        """Frequencies, two weights a wave and output, and biases."""
        return waves * (features + 2 * outputs) + outputs

    def feature_map(self, x: Tensor) -> Tensor:
        """φ(x), (n, 2m), whose products approach the kernel."""
        check_rows(x, self.frequencies.shape[1], self.weights)
        phase = x @ self.frequencies.T
        return torch.cat([phase.cos(), phase.sin()], dim=1) / sqrt(len(self.frequencies))

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        u = torch.addmm(self.bias, self.feature_map(x), self.weights)
        return u.squeeze(1) if u.shape[1] == 1 else u
