"""A fully connected surface.

    u(x) = W_L a(… a(W_1 x + b_1) …) + b_L

The last layer starts at zero, so that the surface starts flat at u = 0 whatever its width.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "leaky_relu": lambda: nn.LeakyReLU(0.2),
}


class FullyConnected(nn.Module):
    """A multilayer perceptron over rows.

    Arguments:
        features: Columns of a row.
        width: Units of every hidden layer.
        layers: Hidden layers.
        outputs: Heights per row; one gives (n,), more give (n, outputs).
        activation: ``silu``, ``tanh``, ``relu`` or ``leaky_relu`` (slope 0.2).
    """

    def __init__(
        self, features: int, width: int = 64, layers: int = 3, outputs: int = 1, activation: str = "silu"
    ) -> None:
        super().__init__()
        if min(features, width, layers, outputs) < 1:
            message = "features, width, layers and outputs must be at least 1"
            raise ValueError(message)
        if activation not in ACTIVATIONS:
            message = f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}"
            raise ValueError(message)
        self.spec = {
            "features": features,
            "width": width,
            "layers": layers,
            "outputs": outputs,
            "activation": activation,
        }
        parts: list[nn.Module] = []
        for fan_in in [features, *[width] * (layers - 1)]:
            linear = nn.Linear(fan_in, width)
            nn.init.xavier_normal_(linear.weight)
            nn.init.uniform_(linear.bias, -1.0, 1.0)
            parts += [linear, ACTIVATIONS[activation]()]
        self.hidden = nn.Sequential(*parts)
        self.last = nn.Linear(width, outputs)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        u: Tensor = self.last(self.hidden(x))
        return u.squeeze(1) if u.shape[1] == 1 else u
