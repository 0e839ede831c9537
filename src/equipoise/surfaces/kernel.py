"""A surface in a reproducing kernel Hilbert space, spanned by centres (Nyström).

    u(x) = Σ_j α_j k(x, c_j) + b,   α = K_mm^{−1/2} a

The coefficients a are white: ⟨φ(x), φ(x′)⟩ = k(x, C) K_mm⁻¹ k(C, x′), the projection of k onto the centres, so that
gradient descent on a is gradient flow in that space, and the model kernel (line 818) stays this one. Pushed by unit
magnitudes from a flat start, the surface moves along the witness of the maximum mean discrepancy (line 5040).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from equipoise.surfaces.blueprint import saved_as
from equipoise.surfaces.centres import choose, median_distance
from equipoise.surfaces.field import COUNT, one_of
from equipoise.surfaces.radial import RADIAL, check_bandwidth, radial
from equipoise.surfaces.rows import check_rows


@saved_as("kernel", features=COUNT, centres=COUNT, kind=one_of(RADIAL), outputs=COUNT)
class Kernel(nn.Module):
    """Bumps at centres, flat at zero to begin with.

    Arguments:
        centres: Where the bumps stand, (m, d).
        bandwidth: Their width h, one for all columns: standardise these first where they differ in scale.
        kind: ``"gaussian"``, smooth; or ``"laplacian"``, with a peak at every centre.
        outputs: Heights per row; one gives (n,), more give (n, outputs).
        white: K_mm^{−1/2}, (m, m), where it is known already.

    Example:
        >>> Kernel([[0.0], [1.0]], bandwidth=0.5)(torch.zeros(3, 1)).tolist()
        [0.0, 0.0, 0.0]
    """

    centres: Tensor
    bandwidth: Tensor
    white: Tensor

    def __init__(
        self,
        centres: Any,  # noqa: ANN401  # anything torch takes
        bandwidth: float = 1.0,
        kind: str = "gaussian",
        outputs: int = 1,
        white: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kind, matrix = kind, radial(kind).matrix
        check_bandwidth(bandwidth)
        points = torch.as_tensor(centres, dtype=torch.get_default_dtype())
        if points.dim() != 2 or 0 in points.shape or outputs < 1 or not bool(torch.isfinite(points).all()):
            message = (
                f"centres must be finite numbers (m, d), and outputs at least 1; got {tuple(points.shape)}, {outputs}"
            )
            raise ValueError(message)
        self.register_buffer("centres", points.contiguous())
        self.register_buffer("bandwidth", torch.tensor(float(bandwidth), dtype=points.dtype))
        self.register_buffer("white", _inverse_root(matrix, points, bandwidth) if white is None else white)
        self.weights = nn.Parameter(torch.zeros(len(points), outputs, dtype=points.dtype))
        self.bias = nn.Parameter(torch.zeros(outputs, dtype=points.dtype))

    @classmethod
    def on_rows(
        cls,
        rows: Tensor,
        centres: int = 200,
        *,
        bandwidth: float | str = "median",
        kind: str = "gaussian",
        outputs: int = 1,
        at: str = "spread",
        seed: int | None = None,
    ) -> Kernel:
        """Put centres on some of the rows (n, d).

        Arguments:
            rows: The rows to stand for.
            centres: How many of them become centres.
            bandwidth: The width h, or ``"median"``, the median distance between two rows.
            kind: ``"gaussian"`` or ``"laplacian"``.
            outputs: Heights per row.
            at: ``"spread"``, far from one another as k-means++ chooses them, or ``"random"``.
            seed: Seeds the choice; a fresh seed where it is None.
        """
        generator = torch.Generator()
        generator.manual_seed(seed) if seed is not None else generator.seed()
        width = resolve_bandwidth(bandwidth, rows, generator)
        return cls(choose(rows.detach(), centres, at, generator), width, kind, outputs)

    @property
    def spec(self) -> dict[str, object]:
        """The sizes, and the kind."""
        centres, features = self.centres.shape
        return {"features": features, "centres": centres, "kind": self.kind, "outputs": self.weights.shape[1]}

    @classmethod
    def blank(cls, features: int, centres: int, kind: str, outputs: int) -> Kernel:
        """All centres at the origin."""
        return cls(torch.zeros(centres, features), 1.0, kind, outputs, white=torch.zeros(centres, centres))

    @staticmethod
    def numbers(*, features: int, centres: int, outputs: int, **_: object) -> int:
        """Centres, whitening, weights, biases and a bandwidth."""
        return centres * (features + centres + outputs) + outputs + 1

    def feature_map(self, x: Tensor) -> Tensor:
        """φ(x), (n, m), whose products are the kernel projected onto the centres."""
        check_rows(x, self.centres.shape[1], self.weights)
        return radial(self.kind).matrix(x, self.centres, self.bandwidth) @ self.white

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, self.centres.shape[1], self.weights)
        bumps = radial(self.kind).matrix(x, self.centres, self.bandwidth)
        u = torch.addmm(
            self.bias, bumps, self.white @ self.weights
        )  # the square matrix meets the weights, not the rows
        return u.squeeze(1) if u.shape[1] == 1 else u


def resolve_bandwidth(bandwidth: float | str, rows: Tensor, generator: torch.Generator) -> float:
    """A bandwidth as a number."""
    if not isinstance(bandwidth, str):
        return bandwidth
    if bandwidth != "median":
        message = f"bandwidth must be a positive number or 'median', got {bandwidth!r}"
        raise ValueError(message)
    return median_distance(rows.detach(), generator)


def _inverse_root(matrix: Any, centres: Tensor, bandwidth: float) -> Tensor:  # noqa: ANN401
    """K_mm^{−1/2}, (m, m), without the directions that rounding has filled."""
    points = centres.double()
    gram = matrix(points, points, torch.tensor(float(bandwidth), dtype=points.dtype))
    values, vectors = torch.linalg.eigh(0.5 * (gram + gram.T))
    solved, kept = len(points) * torch.finfo(points.dtype).eps, 4 * torch.finfo(centres.dtype).eps
    least = max(solved, kept) * values[-1]
    inverse = torch.where(values > least, values.clamp(min=least).rsqrt(), 0.0)
    white: Tensor = (vectors * inverse) @ vectors.T
    return white.to(centres.dtype)
