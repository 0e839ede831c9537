import math

import pytest
import torch

import equipoise as eq
from equipoise.theory import alone


@pytest.mark.parametrize(
    ("name", "only_up", "entry_up", "only_down", "entry_down"),
    [
        ("square", 1.0, 4, -1.0, 4),  # the end of Example 4
        ("logistic", math.inf, 1, -math.inf, 1),
        ("gan_critic", 1.0, 1, 0.0, 1),  # ends of the range
        ("ulsif", math.inf, 1, 0.0, 4),
        ("deep_pdf", "arbitrary", 3, 0.0, 4),  # M_up = p² is zero where the base is
        ("unit", math.inf, 1, -math.inf, 1),
    ],
)
def test_one_sided_ground(name, only_up, entry_up, only_down, entry_down):
    found = alone(eq.catalog.get(name))
    assert found.only_up == only_up if isinstance(only_up, str) else found.only_up == pytest.approx(only_up)
    assert found.only_down == pytest.approx(only_down, abs=1e-9)
    assert f"entry {entry_up}" in found.words_up
    assert f"entry {entry_down}" in found.words_down
    assert "[Theorem 1199]" in str(found)
    assert "[Theorem 1274]" in str(found)


def test_the_words_say_which_way():
    assert "rises for ever" in alone(eq.catalog.get("logistic")).words_up
    assert "falls to the end of its range, u = 0" in alone(eq.catalog.get("gan_critic")).words_down
    energy = alone(eq.catalog.ebgan(2.0))
    assert "M_up < 0 at every height: the surface falls" in energy.words_up
    assert "entry 2" in energy.words_up


def test_a_name_will_do():
    assert alone("square") == alone(eq.catalog.square)


def test_what_the_theorem_leaves_open():
    inst = eq.Instance("mine", up=torch.cos, down=torch.exp, interval=eq.Interval())
    assert "entry 5" in alone(inst).words_up


def test_forces_obey_the_words():
    inst, u = eq.catalog.get("square"), torch.zeros(1)
    for _ in range(200):
        u = u + 0.1 * inst.up(u)
    assert u.item() == pytest.approx(alone(inst).only_up, abs=1e-3)
