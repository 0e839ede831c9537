"""The tree's closed form against the sum over all trees and shifts, written out; and what it is for."""

import numpy as np
import pytest
import torch
from scipy.special import betaln
from tests.asserts import assert_close

from equipoise.bases.binned_kernel import binned_kernels
from equipoise.bases.density_tree import tree_density


class Brute:
    """Node by node, shift by shift."""

    def __init__(self, counts, shapes, held):
        self.counts, self.shapes, self.held = counts, shapes, held
        self.m = len(counts)

    def stops(self, i, width):
        lo, hi = max(i, 0), min(i + width, self.m)
        some = range(len(self.shapes)) if width >= 8 else [len(self.shapes) - 1]
        rows = self.counts[lo:hi]
        evidence = {j: rows @ np.log(self.held[j, lo:hi] / self.shapes[j, lo:hi].sum()) for j in some}
        return {j: value + np.log(0.5 / len(some)) for j, value in evidence.items()}

    def inside(self, i, width):
        return self.counts[max(i, 0) : max(min(i + width, self.m), 0)].sum()

    def halves(self, i, width):
        return self.inside(i, width // 2), self.inside(i + width // 2, width // 2)

    def split(self, i, width):
        left, right = self.halves(i, width)
        evidence = self.phi(i, width // 2) + self.phi(i + width // 2, width // 2)
        return np.log(0.5) + betaln(left + 0.5, right + 0.5) - betaln(0.5, 0.5) + evidence

    def phi(self, i, width):
        if width == 1 or i >= self.m or i + width <= 0:
            return 0.0
        return np.logaddexp.reduce([*self.stops(i, width).values(), self.split(i, width)])

    def spread(self, i, width, mass, out):
        if i >= self.m or i + width <= 0:
            return
        if width == 1:
            out[i] += mass
            return
        lo, hi = max(i, 0), min(i + width, self.m)
        phi = self.phi(i, width)
        for j, evidence in self.stops(i, width).items():
            shape = self.shapes[j, lo:hi]
            out[lo:hi] += mass * np.exp(evidence - phi) * shape / shape.sum()
        left, right = self.halves(i, width)
        share, going = (left + 0.5) / (left + right + 1.0), mass * np.exp(self.split(i, width) - phi)
        self.spread(i, width // 2, going * share, out)
        self.spread(i + width // 2, width // 2, going * (1.0 - share), out)

    def density(self):
        out = np.zeros(self.m)
        for shift in range(-self.m, 1):
            self.spread(shift, 2 * self.m, 1.0, out)
        return out / out.sum()


@pytest.mark.parametrize("m", [4, 8, 16])
def test_the_density_is_the_sum_over_all_trees_and_shifts(m):
    random = np.random.default_rng(m)
    counts = torch.from_numpy(random.poisson(random.gamma(0.5, 6.0, size=(3, m))).astype(float) + np.eye(3, m))
    shapes, held = binned_kernels(counts, torch.tensor([[3.0, 1.0]], dtype=torch.float64).expand(3, 2))
    found = tree_density(counts, shapes, held)
    for i in range(3):
        expected = Brute(counts[i].numpy(), shapes[i].numpy(), held[i].numpy()).density()
        np.testing.assert_allclose(found[i].numpy(), expected, rtol=1e-9)


def test_kernels_are_sums_over_rows():
    counts = torch.tensor([[0.0, 3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0]], dtype=torch.float64)
    shapes, held = binned_kernels(counts, torch.tensor([[1.5]], dtype=torch.float64))
    at = torch.arange(8, dtype=torch.float64)
    kernel = torch.exp(-0.5 * ((at[:, None] - at) / 1.5) ** 2) / (1.5 * (2.0 * torch.pi) ** 0.5)
    assert_close(shapes[0, 0], kernel @ counts[0] / 6.0, relative=1e-3)  # beyond 8 bins the next period is felt
    assert_close(held[0, 0, 1], (kernel[1] @ counts[0] - kernel[1, 1]) / 5.0, relative=1e-3)
    assert_close(shapes[0, 1], torch.full((8,), 0.125, dtype=torch.float64))


def test_a_jump_stays_sharp_and_a_flat_piece_flat():
    random = np.random.default_rng(0)
    rows = np.where(random.random(20_000) < 0.9, random.integers(0, 512, 20_000), random.integers(512, 1024, 20_000))
    counts = torch.from_numpy(np.bincount(rows, minlength=1024).astype(float))[None]
    density = tree_density(counts, *binned_kernels(counts, torch.tensor([[300.0, 75.0]], dtype=torch.float64)))[0]
    relative = density * 512.0 / torch.cat([torch.full((512,), 0.9), torch.full((512,), 0.1)])
    away = torch.cat([relative[:510], relative[514:]])
    assert away.log().abs().max() < 0.25
    assert relative.log().square().mean() < 0.005  # a histogram of these bins: 1/39 + 1/4 on average, halved
