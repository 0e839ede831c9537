"""Methods are pickled and copied by name; what only bears a name is not mistaken for the method."""

import copy
import pickle
from dataclasses import replace

import pytest
import torch

import equipoise as eq
from equipoise.catalog.by_name import belongs

U = torch.linspace(-3.0, 3.0, 13, dtype=torch.float64)


@pytest.mark.parametrize("instance", eq.catalog.all(), ids=lambda i: i.label)
def test_every_method_survives_pickling(instance):
    again = pickle.loads(pickle.dumps(instance))
    assert again.label == instance.label
    u = instance.interval.from_real(U)
    assert torch.equal(again.up(u, -1.0), instance.up(u, -1.0))
    assert torch.equal(again.down(u, -1.0), instance.down(u, -1.0))


def test_a_constant_is_itself_again():
    assert pickle.loads(pickle.dumps(eq.catalog.nce)) is eq.catalog.nce
    assert copy.deepcopy(eq.catalog.nce) is eq.catalog.nce


def test_a_family_s_member_keeps_its_parameters():
    again = pickle.loads(pickle.dumps(eq.catalog.pso_lde(0.5)))
    assert again.parameters == {"alpha": 0.5}


def test_what_only_bears_the_name_is_not_the_method():
    changed = replace(eq.catalog.nce, up=torch.ones_like, down=torch.exp)
    assert not belongs(changed)
    assert not belongs(replace(eq.catalog.pso_lde(0.5), down=torch.exp))
    assert copy.deepcopy(changed).up(U).tolist() == [1.0] * 13


def test_a_lambda_of_one_s_own_is_refused_by_pickle_not_changed():
    mine = eq.Instance("mine", up=lambda u: torch.exp(-u), down=torch.exp)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(mine)
