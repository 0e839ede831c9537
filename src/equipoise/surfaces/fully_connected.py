"""A fully connected surface.

    u(x) = W h_L + b,   h_l = [h_{l−1} +] a([norm](W_l h_{l−1} + b_l)),   h_0 = x

The gain spreads the first layer's weights: the larger it is, the finer the detail that a short push can learn.
"""

from __future__ import annotations

from torch import Tensor, nn

from equipoise.surfaces.activation import ACTIVATIONS, activation as activation_of
from equipoise.surfaces.blueprint import saved_as
from equipoise.surfaces.field import COUNT, DEPTH, FLAG, NUMBER, one_of
from equipoise.surfaces.rows import check_rows


@saved_as(
    "fully_connected",
    features=COUNT,
    width=COUNT,
    layers=DEPTH,
    outputs=COUNT,
    activation=one_of(ACTIVATIONS),
    gain=NUMBER,
    slope=NUMBER,
    residual=FLAG,
    layer_norm=FLAG,
    dropout=NUMBER,
)
class FullyConnected(nn.Module):
    """A multilayer perceptron over rows.

    Arguments:
        features: Columns of a row.
        width: Units of every hidden layer.
        layers: Hidden layers.
        outputs: Heights per row; one gives (n,), more give (n, outputs), as softmax asks for.
        activation: ``silu``, ``tanh``, ``relu`` or ``leaky_relu``.
        gain: Scale of the first layer at the start.
        slope: Of ``leaky_relu`` below zero; the others do without.
        residual: Whether every hidden layer but the first adds to its input.
        layer_norm: Whether every hidden layer is normalised before its activation.
        dropout: Share of hidden units silenced during training; more of it is a wider model kernel (line 5335).
    """

    def __init__(
        self,
        features: int,
        width: int = 64,
        layers: int = 3,
        outputs: int = 1,
        activation: str = "silu",
        gain: float = 1.0,
        slope: float = 0.2,
        residual: bool = False,
        layer_norm: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if min(features, width, layers, outputs) < 1:
            message = (
                f"features, width, layers and outputs must be at least 1, got {features}, {width}, {layers}, {outputs}"
            )
            raise ValueError(message)
        if not 0.0 <= dropout < 1.0:
            message = f"dropout must be in [0, 1), got {dropout}"
            raise ValueError(message)
        if not gain >= 0.0:
            message = f"gain must not be negative, got {gain}"
            raise ValueError(message)
        activation_of(activation)
        self.spec = {
            "features": features,
            "width": width,
            "layers": layers,
            "outputs": outputs,
            "activation": activation,
            "gain": gain,
            "slope": slope,
            "residual": residual,
            "layer_norm": layer_norm,
            "dropout": dropout,
        }
        self.features = features
        self.hidden = nn.Sequential(
            Layer(features, width, activation, gain, slope, residual=False, layer_norm=layer_norm, dropout=dropout),
            *(
                Layer(width, width, activation, 1.0, slope, residual=residual, layer_norm=layer_norm, dropout=dropout)
                for _ in range(layers - 1)
            ),
        )
        self.last = nn.Linear(width, outputs)
        nn.init.xavier_normal_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    @staticmethod
    def numbers(*, features: int, width: int, layers: int, outputs: int, layer_norm: bool, **_: object) -> int:
        """How many numbers such a network holds."""
        norms = 2 * width * layers if layer_norm else 0
        return (features + 1) * width + (layers - 1) * (width + 1) * width + (width + 1) * outputs + norms

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, self.features, self.last.weight)
        u: Tensor = self.last(self.hidden(x))
        return u.squeeze(1) if u.shape[1] == 1 else u


class Layer(nn.Module):
    """One hidden layer: h ↦ [h +] dropout(a([norm](W h + b)))."""

    def __init__(
        self,
        fan_in: int,
        width: int,
        activation: str,
        gain: float,
        slope: float,
        *,
        residual: bool,
        layer_norm: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.linear = nn.Linear(fan_in, width)
        nn.init.xavier_normal_(self.linear.weight, gain=gain)
        nn.init.uniform_(self.linear.bias, -1.0, 1.0)
        self.norm = nn.LayerNorm(width) if layer_norm else nn.Identity()
        self.dropout = nn.Dropout(dropout) if dropout else nn.Identity()
        self.activation, self.slope, self.residual = activation, slope, residual

    def forward(self, h: Tensor) -> Tensor:
        """The units of rows of units (n, fan_in)."""
        bent: Tensor = self.dropout(ACTIVATIONS[self.activation](self.norm(self.linear(h)), self.slope))
        return h + bent if self.residual else bent
