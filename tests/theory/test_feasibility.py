import math
from dataclasses import replace

import pytest
import torch

import equipoise as eq
from equipoise.catalog import pairings
from equipoise.formula import FormulaError
from equipoise.interval import REALS, Interval
from equipoise.theory import bound, check, consistent, derive

EVERY = [pytest.param(inst, id=inst.label) for inst in eq.catalog.all()]


@pytest.mark.parametrize(
    ("up", "down", "verdict", "low", "high"),
    [
        ("1 - u", "1 + u", "any range", -1, 1),  # Example 4
        ("1/f", "1/(1 - f)", "range must be K", 0, 1),  # the figure at 2509
        ("1/(exp(tan(f)) + 1)", "1/(exp(-tan(f)) + 1)", "range must be K", -math.pi / 2, math.pi / 2),  # Example 3
        ("exp(f)/p", "exp(2*f)/p^2", "any range", -math.inf, math.inf),  # Example 2
        ("1/(exp(u) + 1)", "1/(exp(-u) + 1)", "any range", -math.inf, math.inf),
        ("1", "1", "no balance", -math.inf, math.inf),
        ("1", "exp(-u)", "no balance", -math.inf, math.inf),  # R falls under positive magnitudes
        ("-1", "-exp(-u)", "any range", -math.inf, math.inf),  # and may under negative ones
    ],
)
def test_the_papers_examples(up, down, verdict, low, high):
    report = check(up, down)
    assert report.verdict == verdict
    assert report.interval.low == pytest.approx(low, abs=1e-6)
    assert report.interval.high == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize("inst", EVERY)
def test_agrees_with_the_instance_itself(inst):
    report = check(inst)
    assert report.verdict == inst.range
    assert report.conditions == inst.report.conditions
    assert "(Lemma 2494" in report.notes[0]
    assert str(report).endswith(f"verdict: {inst.range}")
    assert not any("declares" in note for note in report.notes)


def test_looks_up_names_and_members():
    assert check("nce").verdict == "any range"
    assert check("lsgan", a=1.0, b=0.0).sign == -1
    with pytest.raises(ValueError, match="the catalogue has no 'nope'"):
        check("nope")


def test_takes_functions_numbers_and_parameters():
    assert check(lambda u: torch.sigmoid(-u), torch.sigmoid).verdict == "any range"
    assert check(1, torch.exp).verdict == "any range"
    assert check("p", "abs(f)**degree*sign(f)", degree=2).verdict == "any range"
    with pytest.raises(FormulaError, match="unknown name degree"):
        check("1", "abs(f)**degree")


def test_mixtures_reach_only_a_part_of_k():
    for name, reached in (("ndmr", "(0, 1)"), ("ndmlr", "(-inf, 0)")):
        note = next(note for note in check(name).notes if "mixture" in note)
        assert "below 2" in note
        assert reached in note
    mixed = replace(eq.catalog.get("logistic"), pairings=(pairings.MIXTURE,))
    assert any(f"(-inf, {math.log(2):g})" in note for note in check(mixed).notes)
    assert not any("mixture" in note for note in check("gan_critic").notes)


def test_says_that_magnitudes_are_negative():
    assert any("negative" in note for note in check("lsgan", a=1.0, b=0.0).notes)
    assert not any("negative" in note for note in check("lsgan").notes)


def test_quadrants_are_named():
    assert "in I on K, in IV below K, in II above K" in check("square").notes[0]
    assert "in I on K, in II below K, in IV above K" in check("gan_critic").notes[0]
    assert "in III on K" in check("lsgan", a=1.0, b=0.0).notes[0]


def test_where_magnitudes_are_not_defined_there_is_no_quadrant():
    note = next(n for n in check("sqrt(1 - u)", "sqrt(1 + u)").notes if n.startswith("c ="))
    assert "in no quadrant below K, in no quadrant above K" in note
    assert "in no quadrant, only axes above K" in next(iter(check("ldtr").notes))


def test_wrong_shapes_are_reported():
    report = check(lambda u: u.sum(), torch.exp)
    assert report.verdict == "no balance"
    assert "one value per height" in report.conditions[0].text


@pytest.mark.parametrize(
    ("up", "down", "where"),
    [
        ("sqrt(u)", "u + 2", lambda u: u < 0),
        (lambda u: torch.where(u > 0.5, torch.nan, 1.0), torch.exp, lambda u: u > 0.5),
    ],
)
def test_nan_in_k_is_reported_with_its_height(up, down, where):
    report = check(up, down, interval=Interval(-1, 1))
    assert report.verdict == "no balance"
    failed = report.conditions[0]
    assert "M_up is a number" in failed.text
    assert not failed.holds
    assert where(failed.at)
    assert f"{failed.at:.6g}" in str(report)


def test_an_instance_that_turns_nan_beyond_the_probe_is_reported():
    inst = eq.Instance(
        "mine",
        up=lambda u: torch.where(u > 1e5, torch.nan, 1.0),
        down=lambda u: torch.where(u > 0, 1 + u, 1 / (1 - u)),
        interval=REALS,
    )
    report = check(inst)
    assert report.verdict == "no balance"
    assert report.conditions[0].at > 1e5


def test_a_wrong_sign_on_k_is_reported_with_its_height():
    failed = check("u", "u**2", interval=Interval(-1, 1)).conditions[0]
    assert not failed.holds
    assert -1 < failed.at <= 0


def test_a_declared_ratio_must_be_that_of_the_magnitudes():
    inst = eq.Instance("mine", up=1.0, down=torch.exp, ratio=lambda u: torch.exp(2 * u))
    assert any("mine declares is not M_down / M_up" in note for note in check(inst).notes)


def test_two_magnitudes_or_one_instance():
    with pytest.raises(TypeError, match="M_down"):
        check(torch.exp)
    with pytest.raises(TypeError, match="second argument"):
        check(eq.catalog.get("nce"), "u")
    with pytest.raises(TypeError, match="'1 - u' alone: a magnitude needs M_down beside it"):
        check("1 - u")


SETS = [
    {"pso_lde", "pso_max", "nce", "importance_sampling", "polynomial", "log_pdf_1", "log_pdf_4", "log_pdf_5"},
    {"deep_pdf", "mle", "bregman_density"},
    {"ulsif", "kliep", "power_divergence", "reversed_kl", "balanced_ratio"},
    {"gan_critic", "lsgan"},
    {"log_ratio", "logistic", "binary_cross_entropy"},
    {"square"},
    {"ndmr"},
    {"ldar"},
]


@pytest.mark.parametrize("first", SETS, ids=min)
def test_consistent_magnitude_sets(first):
    for second in SETS:
        for a in first:
            assert consistent(eq.catalog.get(a), eq.catalog.get(min(second))) == (first is second)


def test_names_are_looked_up():
    assert consistent("nce", "polynomial")
    assert not consistent("nce", "logistic")


def test_what_has_no_balance_is_in_no_set():
    assert not consistent(eq.catalog.get("unit"), eq.catalog.get("unit"))


def test_consistency_is_of_heights_whatever_the_frame():
    assert consistent(derive(ratio=lambda f: f, of="density"), eq.catalog.get("deep_pdf"))
    assert not consistent(derive(ratio=lambda f: f), eq.catalog.get("deep_pdf"))
    assert consistent(bound(eq.catalog.get("kliep"), 2), eq.catalog.get("ulsif"))
    assert not consistent(eq.catalog.lsgan(0.0, 1.0), eq.catalog.lsgan(1.0, 0.0))
