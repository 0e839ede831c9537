"""The sum of surfaces is their sum, and trains all of its parts."""

import pytest
import torch

import equipoise as eq
from equipoise.surfaces import Additive, FullyConnected, InRange, Standardise, Sum


def rows(seed=0):
    return torch.randn(500, 3, generator=torch.Generator().manual_seed(seed))


def test_a_sum_is_the_sum_and_trains_all_its_parts():
    torch.manual_seed(0)
    parts = FullyConnected(3, width=8, layers=1), Additive.on_rows(rows(), 8)
    total = Sum(*parts)
    x = rows()[:20]
    assert torch.equal(total(x), parts[0](x) + parts[1](x))
    before = [p.detach().clone() for p in total.parameters()]
    eq.push(total, "logistic", eq.Pair(rows() + 1, rows(seed=4)), steps=3, n_up=50, seed=0)
    assert all(not torch.equal(old, new) for old, new in zip(before, total.parameters(), strict=True))


def test_parts_of_different_shapes_are_refused_even_where_they_would_broadcast():
    class Column(torch.nn.Module):
        def forward(self, x):
            return x[:, :1]

    with pytest.raises(ValueError, match=r"\(20,\) and \(20, 1\)"):
        Sum(FullyConnected(3), Column())(rows()[:20])
    with pytest.raises(ValueError, match="agree in shape"):
        Sum(FullyConnected(3, outputs=2), FullyConnected(3))(rows()[:20])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Sum, "at least one"),
        (lambda: Sum(InRange(FullyConnected(1), (0, 1))), "wrap the sum"),
        (lambda: Sum(FullyConnected(1), Standardise(InRange(FullyConnected(1), (0, 1)), [0], [1])), "wrap the sum"),
    ],
)
def test_bad_input_is_said(make, said):
    with pytest.raises(ValueError, match=said):
        make()
