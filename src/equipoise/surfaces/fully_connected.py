"""A fully connected surface.

    u(x) = W_L a(… a(W_1 x + b_1) …) + b_L

The gain spreads the first layer's weights: the larger it is, the finer the detail that a short push can learn.
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
        gain: Scale of the first layer at the start.
    """

    def __init__(
        self,
        features: int,
        width: int = 64,
        layers: int = 3,
        outputs: int = 1,
        activation: str = "silu",
        gain: float = 1.0,
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
            "gain": gain,
        }
        parts: list[nn.Module] = []
        for depth, fan_in in enumerate([features, *[width] * (layers - 1)]):
            linear = nn.Linear(fan_in, width)
            nn.init.xavier_normal_(linear.weight, gain=1.0 if depth else gain)
            nn.init.uniform_(linear.bias, -1.0, 1.0)
            parts += [linear, ACTIVATIONS[activation]()]
        self.hidden = nn.Sequential(*parts)
        self.last = nn.Linear(width, outputs)
        nn.init.xavier_normal_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        u: Tensor = self.last(self.hidden(x))
        return u.squeeze(1) if u.shape[1] == 1 else u
