"""Starts, surfaces over them, bridges and pools, each against a twin or a closed form."""

import pytest
import torch

from equipoise import catalog
from equipoise.bases import Gaussian, Marginals
from equipoise.ratios import Discriminant, Folds, Over, Pool, Side, Sides
from equipoise.ratios.bridge import Bridge, waypoints
from equipoise.ratios.over import Beside, height_at
from equipoise.ratios.score import BLIND, LogRatios, pool_weights
from equipoise.ratios.sides import folds
from equipoise.ratios.starts import densities, discriminants, side_scores
from equipoise.surfaces import FullyConnected, Quadratic

TWO_SAMPLE = [
    inst
    for inst in catalog.all()
    if inst.scalar and inst.feasible and not inst.needs_base and inst.pairing.name in ("two-sided", "two labels")
]


def sides(n=400, d=3, shift=1.0, seed=0, **weights):
    generator = torch.Generator().manual_seed(seed)
    num = torch.randn(n, d, generator=generator, dtype=torch.float64) * 1.3 + shift
    den = torch.randn(n + 50, d, generator=generator, dtype=torch.float64)
    return Sides(Side(num, weights.get("num")), Side(den, weights.get("den")))


def starts(given):
    columns = Marginals().fit(given.pooled.rows, given.pooled.share).columns
    return {s.name: s.model for s in discriminants(given, side_scores(columns, given), columns)}


def test_gaussians_are_the_difference_of_two_gaussian_densities():
    given = sides()
    num, den = (Gaussian().fit(side.rows) for side in given.both)
    model = starts(given)["gaussians"]
    twin = num.log_prob(given.den.rows) - den.log_prob(given.den.rows)
    torch.testing.assert_close(model.log_ratio(given.den.rows), twin, rtol=1e-8, atol=1e-8)


def test_a_linear_start_finds_the_line_between_two_moved_gaussians():
    generator = torch.Generator().manual_seed(1)
    num, den = (torch.randn(20_000, 2, generator=generator, dtype=torch.float64) for _ in range(2))
    model = starts(Sides(Side(num + torch.tensor([1.0, -0.5])), Side(den)))["linear"]
    grid = torch.cartesian_prod(*[torch.linspace(-2, 2, 9, dtype=torch.float64)] * 2)
    truth = grid @ torch.tensor([1.0, -0.5], dtype=torch.float64) - 0.5 * 1.25
    assert (model.log_ratio(grid) - truth).abs().max() < 0.15


def test_a_quadratic_start_finds_two_stretched_gaussians():
    generator = torch.Generator().manual_seed(2)
    num, den = (torch.randn(20_000, 2, generator=generator, dtype=torch.float64) for _ in range(2))
    stretch = torch.tensor([0.7, 1.2], dtype=torch.float64)
    model = starts(Sides(Side(num * stretch), Side(den)))["quadratic, light"]
    grid = torch.cartesian_prod(*[torch.linspace(-1.5, 1.5, 7, dtype=torch.float64)] * 2)
    truth = 0.5 * (grid**2).sum(dim=1) - 0.5 * ((grid / stretch) ** 2).sum(dim=1) - stretch.log().sum()
    assert (model.log_ratio(grid) - truth).abs().max() < 0.2


def test_weights_of_two_are_rows_twice():
    given = sides(200)
    twice = torch.where(torch.arange(200) % 2 == 0, 2.0, 1.0).double()
    weighted = starts(sides(200, num=twice))["linear"]
    index = torch.arange(200).repeat_interleave(twice.long())
    repeated = starts(Sides(given.num[index], given.den))["linear"]
    rows = given.den.rows
    torch.testing.assert_close(weighted.log_ratio(rows), repeated.log_ratio(rows), rtol=0, atol=0.05)


def test_heavy_tails_leave_columns_to_their_scores():
    given = sides().map(lambda rows: torch.sinh(4.0 * rows))
    names = list(starts(given))
    assert names
    assert all(name.endswith("on scores") for name in names)


def test_a_column_constant_on_one_side_has_no_density_there():
    given = sides()
    num = given.num.rows.clone()
    num[:, 1] = 0.5
    names = list(starts(Sides(Side(num), given.den)))
    assert "linear" in names
    assert "gaussians" not in names
    assert not list(densities(Sides(Side(num), given.den), ("copula",)))


def test_a_difference_of_densities_is_one():
    given = sides()
    (start,) = densities(given, ("copula",))
    num, den = start.model.num, start.model.den
    x = given.num.rows
    torch.testing.assert_close(start.model.log_ratio(x), num.log_prob(x) - den.log_prob(x))


@pytest.mark.parametrize("instance", TWO_SAMPLE, ids=lambda inst: inst.label)
def test_heights_stand_for_their_log_ratio(instance):
    log_ratio = torch.linspace(-8.0, 8.0, 41, dtype=torch.float64)
    u = height_at(instance, log_ratio)
    torch.testing.assert_close(instance.log_ratio(u), log_ratio, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("instance", TWO_SAMPLE, ids=lambda inst: inst.label)
def test_heights_far_out_are_numbers_with_a_slope(instance):
    log_ratio = torch.tensor([-500.0, -30.0, 30.0, 500.0], requires_grad=True)
    u = height_at(instance, log_ratio)
    assert not torch.isnan(u).any()
    (slope,) = torch.autograd.grad(u.double().clamp(-1e30, 1e30).sum(), log_ratio)
    assert not torch.isnan(slope).any()


def test_a_surface_beside_its_start_adds_to_the_log_ratio():
    torch.manual_seed(0)
    surface = FullyConnected(3, 8, 2)
    instance = catalog.get("balanced_ratio")
    x, start = torch.randn(20, 3), torch.randn(20)
    u = Beside(surface, instance)(torch.cat([x, start.unsqueeze(1)], dim=1))
    torch.testing.assert_close(instance.log_ratio(u), start + surface(x), rtol=1e-4, atol=1e-4)


def test_over_is_start_and_surface():
    torch.manual_seed(0)
    surface, start = FullyConnected(3, 8, 2).double().eval(), Discriminant(Quadratic(3).double())
    x = torch.randn(20, 3, dtype=torch.float64)
    torch.testing.assert_close(Over(start, surface).log_ratio(x), surface(x).detach())


def test_a_quadratic_is_its_formula():
    generator = torch.Generator().manual_seed(0)
    c, b, a, x = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((), (4,), (4, 4), (30, 4)))
    twin = torch.stack([c + b @ row + row @ a @ row for row in x])
    torch.testing.assert_close(Quadratic.of(c, b, a)(x), twin)


def test_waypoints_lead_from_one_side_to_the_other():
    given = sides(20_000, d=2, shift=3.0)
    rows, labels, weight = waypoints(given, 4, torch.Generator().manual_seed(0))
    torch.testing.assert_close(rows[labels == 0], given.den.rows)
    torch.testing.assert_close(rows[labels == 4], given.num.rows)
    for k in range(5):
        mean = rows[labels == k].mean(dim=0)
        torch.testing.assert_close(mean, torch.full((2,), 3.0 * k / 4, dtype=torch.float64), rtol=0, atol=0.06)
        assert weight[labels == k].sum() == pytest.approx(1.0)


def test_a_bridge_is_its_last_class_against_its_first():
    surface = FullyConnected(2, 4, 1, outputs=3).double().eval()
    x = torch.randn(9, 2, dtype=torch.float64)
    torch.testing.assert_close(Bridge(surface).log_ratio(x), (surface(x)[:, 2] - surface(x)[:, 0]).detach())


def test_every_row_is_held_out_once_and_never_seen_then():
    given = sides(53)
    parts = folds(given, 4, seed=0)
    assert torch.equal(torch.cat([part.num_at for part in parts]).sort().values, torch.arange(53))
    assert torch.equal(torch.cat([part.den_at for part in parts]).sort().values, torch.arange(103))
    for part in parts:
        assert len(part.seen.num) + len(part.held_out.num) == 53
        there = torch.cdist(part.seen.num.rows, part.held_out.num.rows).min()
        assert there > 0


def test_splits_keep_rows_with_their_weights():
    weight = torch.arange(1.0, 401.0, dtype=torch.float64)
    given = sides(400, num=weight)
    teach, choose = given.split(0.2, seed=3)
    assert (len(teach.num), len(choose.num), len(choose.den)) == (320, 80, 90)
    for part in (teach, choose):
        for row, own in zip(part.num.rows, part.num.weight, strict=True):
            assert torch.equal(given.num.rows[int(own) - 1], row)


def truth_and_noise(n=4000, seed=0):
    generator = torch.Generator().manual_seed(seed)
    num, den = (torch.randn(n, generator=generator, dtype=torch.float64) + shift for shift in (1.0, 0.0))
    noise = [torch.randn(n, generator=generator, dtype=torch.float64) for _ in range(2)]
    tables = [torch.stack([0.3 * noise[i], side - 0.5]) for i, side in enumerate((num, den))]
    share = torch.full((n,), 1.0 / n, dtype=torch.float64)
    return tables, (share, share)


def test_a_pool_finds_the_truth_among_noise():
    weights = pool_weights(*truth_and_noise())
    assert weights[0] == 0.0
    assert weights[1] > 0.9


def test_noise_tells_nothing_apart_and_the_truth_does():
    tables, shares = truth_and_noise()
    assert not LogRatios(tables[0][0], tables[1][0], *shares).tells_apart()
    assert LogRatios(tables[0][1], tables[1][1], *shares).tells_apart()


def test_a_pools_score_is_no_worse_than_its_best_member():
    tables, shares = truth_and_noise(seed=4)
    weights = pool_weights(tables, shares)
    mixed = LogRatios(*(weights @ table for table in tables)).score()[0]
    best = max(LogRatios(tables[0][k], tables[1][k]).score()[0] for k in range(2))
    assert mixed >= best - 1e-4


def test_candidates_that_cannot_be_told_apart_all_stay():
    far = torch.full((20, 50), 30.0, dtype=torch.float64)
    share = torch.full((50,), 0.02, dtype=torch.float64)
    weights = pool_weights((far, -far), (share, share))
    assert weights.sum() == pytest.approx(1.0)
    assert (weights > 0).all()


def test_the_simplest_of_equals_is_taken():
    tables, shares = truth_and_noise()
    twice = tuple(torch.stack([table[1], table[1] + 0.05 * table[0]]) for table in tables)
    assert pool_weights(twice, shares).tolist() == [1.0, 0.0]


def test_a_score_is_that_of_a_logistic_loss():
    num, den = torch.tensor([0.3, 2.0]), torch.tensor([-1.0, 0.5, 0.0])
    twin = 0.5 * torch.log(1 / (1 + (-num).exp())).mean() + 0.5 * torch.log(1 / (1 + den.exp())).mean()
    assert LogRatios(num, den).score()[0] == pytest.approx(twin.item(), rel=1e-6)
    assert LogRatios(0 * num, 0 * den).score()[0] == pytest.approx(BLIND)


def test_folds_average_and_tell_how_far_they_differ():
    x = torch.randn(7, 1, dtype=torch.float64)
    one = torch.ones(1, dtype=torch.float64)

    def pool(slope):
        return Pool((Discriminant(Quadratic.of(0 * one[0], slope * one, 0 * one.unsqueeze(1))),), (1.0,), ("line",))

    both = Folds((pool(1.0), pool(3.0)))
    torch.testing.assert_close(both.log_ratio(x), 2.0 * x[:, 0])
    torch.testing.assert_close(both.spread(x), x[:, 0].abs())  # √(½·2·x²)
    seen = Sides(Side(torch.tensor([[0.5], [1.0]]).double()), Side(torch.tensor([[-2.0], [0.1]]).double()))
    torch.testing.assert_close(pool(3.0).within(seen).log_ratio(x), (3.0 * x[:, 0]).clamp(-6.0, 3.0))
    torch.testing.assert_close(pool(-3.0).within(seen).log_ratio(x), (-3.0 * x[:, 0]).clamp(-0.3, 0.0))
    assert torch.equal(Pool((), (), ()).log_ratio(x), torch.zeros(7, dtype=torch.float64))
