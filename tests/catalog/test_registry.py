"""Look-ups, and the paper's six tables written out."""

import pytest
import torch
from tests.asserts import MEMBERS, assert_close, heights, label, on_first

from equipoise import Instance, catalog
from equipoise.catalog import UnknownInstanceError, registry

TABLES = {
    1: ["deep_pdf", "pso_lde", "pso_max", "nce", "importance_sampling"],
    2: ["polynomial", "inverse_polynomial", "inverse_importance_sampling", "root_density", "pdf_convolution"],
    3: ["unit", "ebgan", "ulsif", "kliep", "gan_critic", "ndmr", "ndmlr"],
    4: ["gan_critic_log", "power_divergence", "reversed_kl", "balanced_ratio", "log_ratio", "square", "logistic"],
    5: ["exponential", "lsgan", "kl_divergence", "reverse_kl_divergence", "lipschitz", "ldar", "ldtr"],
    6: [
        "conditional_density",
        "conditional_log_density",
        "conditional_nce",
        "conditional_pso_lde",
        "conditional_gan",
        "likelihood_ratio_logistic",
    ],
}
ELSEWHERE = {
    *(f"log_pdf_{version}" for version in range(1, 6)),
    *("mle", "bregman_density", "hinge", "f_divergence", "binary_cross_entropy", "softmax_cross_entropy"),
}
FAMILIES = {
    *("pso_lde", "root_density", "bregman_density", "ebgan", "hinge", "power_divergence", "lsgan", "f_divergence"),
    *("conditional_pso_lde", "binary_cross_entropy", "softmax_cross_entropy"),
}


@pytest.mark.parametrize("number", TABLES)
def test_tables_are_the_papers_row_by_row(number):
    assert [instance.name for instance in catalog.table(number)] == TABLES[number]


def test_names_are_the_tables_then_the_rest():
    listed = [name for rows in TABLES.values() for name in rows]
    assert catalog.names()[: len(listed)] == listed
    assert set(catalog.names()[len(listed) :]) == ELSEWHERE
    assert catalog.names() == [instance.name for instance in catalog.all()] == list(catalog.entries())


def test_families_are_those_that_take_parameters():
    assert set(catalog.families()) == FAMILIES
    assert {instance.name for instance in catalog.all() if instance.parameters} == FAMILIES


@pytest.mark.parametrize("number", [0, 7, "3"])
def test_there_is_no_other_table(number):
    with pytest.raises(ValueError, match="1 to 6"):
        catalog.table(number)


@pytest.mark.parametrize("instance", MEMBERS, ids=label)
def test_name_and_parameters_give_an_instance_again(instance):
    again = catalog.get(instance.name, **instance.parameters)
    assert (again.label, again.interval, again.range) == (instance.label, instance.interval, instance.range)
    u = heights(instance)
    for side in ("up", "down", "ratio"):
        of_again, of_first = getattr(again, side), getattr(instance, side)
        assert_close(on_first(instance, of_again)(u), on_first(instance, of_first)(u), relative=0.0)


@pytest.mark.parametrize("name", catalog.names())
def test_attribute_and_get_are_one_entry(name):
    entry = getattr(catalog, name)
    assert name in dir(catalog)
    if isinstance(entry, Instance):
        assert catalog.get(name) is entry
    else:
        assert entry.__name__ == name
        assert entry().label == catalog.get(name).label


def test_an_instance_passes_through():
    mine = Instance("mine", torch.exp, torch.exp)
    assert catalog.get(mine) is mine


@pytest.mark.parametrize(
    ("name", "hint"), [("psolde", "pso_lde"), ("NCE", "nce"), ("kleip", "kliep"), ("zzzzzz", r"names\(\)")]
)
def test_an_unknown_name_gives_the_nearest(name, hint):
    for error in (UnknownInstanceError, ValueError, KeyError):
        with pytest.raises(error, match=rf"the catalogue has no '{name}'.*{hint}"):
            catalog.get(name)
    with pytest.raises(AttributeError, match=rf"the catalogue has no '{name}'.*{hint}"):
        getattr(catalog, name)
    assert not hasattr(catalog, name)


def test_parameters_that_are_not_taken_are_named():
    with pytest.raises(TypeError, match="nce takes no parameters, got alpha"):
        catalog.get("nce", alpha=0.5)
    with pytest.raises(TypeError, match="pso_lde takes alpha, got beta"):
        catalog.get("pso_lde", beta=0.5)
    with pytest.raises(TypeError, match="nce is an instance already and takes no parameters, got alpha"):
        catalog.get(catalog.nce, alpha=0.5)


@pytest.mark.parametrize("name", [3, None, ["nce"]])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(TypeError, match="expected an Instance or the name of a method, got a"):
        catalog.get(name)


def test_search_by_attributes():
    assert [i.name for i in catalog.search(estimand="log_ratio", bounded=True)] == ["logistic"]
    assert {i.name for i in catalog.search(range="no balance")} == {"unit", "ebgan", "hinge"}
    assert {i.name for i in catalog.search(has_loss=False)} == {"ldar"}
    assert {i.name for i in catalog.search(pairing="mixture")} == {"ndmr", "ndmlr"}
    assert {i.name for i in catalog.search(tables=(6,))} == {i.name for i in catalog.search(tables=6)} == set(TABLES[6])
    assert len(catalog.search()) == len(catalog.all())
    assert catalog.search(estimand="nothing") == []


def test_search_by_something_else_is_refused():
    with pytest.raises(TypeError, match=r"no attribute 'colour'.*estimand"):
        catalog.search(colour="red")


def test_a_new_entry_is_found_everywhere(monkeypatch):
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))
    mine = registry.register(Instance("mine_for_a_test", lambda u: torch.sigmoid(-u), torch.sigmoid))
    assert catalog.mine_for_a_test is mine
    assert catalog.get("mine_for_a_test") is mine
    assert mine in catalog.all()
    assert mine in catalog.search(bounded=True)


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        ("deep_pdf", "conditional_density"),
        ("importance_sampling", "conditional_log_density"),
        ("nce", "conditional_nce"),
        ("gan_critic", "conditional_gan"),
        ("logistic", "likelihood_ratio_logistic"),
        ("importance_sampling", "pdf_convolution"),
        ("importance_sampling", "log_pdf_2"),
        ("inverse_importance_sampling", "log_pdf_3"),
    ],
)
def test_variants_share_their_parents_functions(parent, child):
    first, second = catalog.get(parent), catalog.get(child)
    for part in ("up", "down", "target", "ratio", "up_primitive", "down_primitive", "interval", "range"):
        assert getattr(first, part) is getattr(second, part)
    assert first.reference != second.reference


@pytest.mark.parametrize("alpha", [0.25, 0.3, 1.0])
def test_conditional_pso_lde_is_pso_lde(alpha):
    first, second = catalog.pso_lde(alpha), catalog.conditional_pso_lde(alpha)
    u = torch.linspace(-9.0, 9.0, 50, dtype=torch.float64)
    for part in ("up", "down", "target", "ratio", "up_primitive", "down_primitive"):
        assert_close(getattr(second, part)(u.exp()), getattr(first, part)(u.exp()), relative=0.0)
    assert second.parameters == first.parameters


@pytest.mark.parametrize("name", TABLES[6])
def test_conditional_rows_shuffle_the_condition(name):
    instance = catalog.get(name)
    generated = name in {"conditional_gan", "likelihood_ratio_logistic"}
    assert instance.pairing.name == ("conditional generated" if generated else "conditional")
    assert instance.estimand.name.startswith("conditional_")
    assert "Y" in instance.estimand.tex
