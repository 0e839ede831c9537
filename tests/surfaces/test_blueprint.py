"""A blueprint may come from anywhere: what is not one is refused, and nothing is built before its size is known."""

import copy
import json

import pytest
import torch
from hypothesis import given, settings, strategies as st
from tests.surfaces.every import SURFACES, make

from equipoise.surfaces import FullyConnected, InRange, Sum, build, describe, size
from equipoise.surfaces.blueprint import MOST_NESTED, known, saved_as

BLUEPRINTS = {name: json.loads(json.dumps(describe(make(name)))) for name in SURFACES}
REFUSED = (ValueError, TypeError)

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 0),
    st.sampled_from([10**6, 2**31, 2**63, 10**30, -(10**400), 10**400, 1.0, 2.5, -0.1, 1e308]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
    st.text(max_size=8),
    st.lists(st.one_of(st.integers(), st.none(), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=6), st.integers(), max_size=2),
)


def places(blueprint, path=()):
    """Every place in a blueprint where a value stands."""
    items = blueprint.items() if isinstance(blueprint, dict) else enumerate(blueprint)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def changed(blueprint, path, value):
    blueprint = copy.deepcopy(blueprint)
    at = blueprint
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return blueprint


@settings(max_examples=600)
@given(st.data())
def test_an_odd_value_anywhere_is_refused_or_counted_right(data):
    name = data.draw(st.sampled_from(sorted(BLUEPRINTS)))
    path = data.draw(st.sampled_from(sorted(places(BLUEPRINTS[name]), key=str)))
    blueprint = changed(BLUEPRINTS[name], path, data.draw(ODD))
    try:
        count = size(blueprint)
    except REFUSED as error:
        assert 0 < len(str(error)) < 500  # noqa: PT017
        with pytest.raises(REFUSED):
            build(blueprint)
        return
    if count > 10_000:
        return  # a file without so many numbers goes no further
    try:
        surface = build(blueprint)
    except REFUSED:
        return
    assert count == sum(tensor.numel() for tensor in surface.state_dict().values())


@pytest.mark.parametrize("name", BLUEPRINTS)
def test_every_field_is_needed_and_no_other_is_known(name):
    blueprint = BLUEPRINTS[name]
    for key in blueprint:
        with pytest.raises(REFUSED, match="unknown surface" if key == "type" else rf"lacks \['{key}'\]"):
            size({k: v for k, v in blueprint.items() if k != key})
    with pytest.raises(ValueError, match="unknown fields 'more'"):
        size({**blueprint, "more": 1})


@pytest.mark.parametrize("name", [name for name in BLUEPRINTS if "features" in BLUEPRINTS[name]])
@pytest.mark.parametrize("value", [True, "3", 3.0, None, 0, -1, 2**80, [3], {"3": 3}])
def test_a_count_is_a_positive_integer_and_costs_nothing_to_ask_for(name, value):
    blueprint = {**BLUEPRINTS[name], "features": value}
    if value == 2**80:
        assert size(blueprint) >= 2**80
        return
    with pytest.raises(REFUSED, match="counted in integers"):
        size(blueprint)


def test_layers_are_bounded_for_each_costs_more_than_its_numbers():
    blueprint = {**BLUEPRINTS["fully connected"], "layers": 10**5, "width": 1}
    with pytest.raises(ValueError, match="from 1 to 1000"):
        size(blueprint)


def test_surfaces_inside_surfaces_end_somewhere():
    surface = FullyConnected(1, 2, 1)
    for _ in range(MOST_NESTED - 1):
        surface = InRange(surface, (-float("inf"), float("inf")))
    assert size(describe(surface)) == size(describe(FullyConnected(1, 2, 1)))
    assert isinstance(build(describe(surface)), InRange)
    deep = describe(surface)
    for _ in range(100_000):
        deep = {"type": "in_range", "surface": deep, "interval": [None, None], "map": "auto"}
    for walk in (size, build):
        with pytest.raises(ValueError, match="inside more than"):
            walk(deep)
    while isinstance(deep, dict):  # unwind by hand: releasing so deep a mapping at once is hard on the interpreter
        deep = deep.pop("surface", None)


@pytest.mark.parametrize("blueprint", [{}, {"type": "linear"}, {"type": None}, {"type": "os.system"}, {"type": []}])
def test_an_unknown_blueprint_is_refused(blueprint):
    for walk in (size, build):
        with pytest.raises(ValueError, match="unknown surface"):
            walk(blueprint)


@pytest.mark.parametrize("blueprint", [None, 3, "additive", [], [{"type": "sum"}]])
def test_what_is_no_mapping_is_refused(blueprint):
    for walk in (size, build):
        with pytest.raises(TypeError, match="must be a mapping"):
            walk(blueprint)


@pytest.mark.parametrize("parts", [[], None, {}, [3], [{}], ["additive"]])
def test_what_are_no_parts_is_refused(parts):
    for walk in (size, build):
        with pytest.raises(REFUSED):
            walk({"type": "sum", "parts": parts})


@pytest.mark.parametrize("interval", [None, [], [0], [0, 1, 2], ["0", 1], [1, 1], [2, 1], [float("nan"), 1], [True, 2]])
def test_what_is_no_interval_is_refused(interval):
    inner = describe(FullyConnected(1, 2, 1))
    for walk in (size, build):
        with pytest.raises(REFUSED):
            walk({"type": "in_range", "surface": inner, "interval": interval, "map": "auto"})


def test_a_surface_of_ones_own_has_no_blueprint():
    class Mine(FullyConnected):
        pass

    for surface in (torch.nn.Linear(2, 1), InRange(torch.nn.Linear(2, 1), (0.0, 1.0)), Sum(torch.nn.Linear(2, 1))):
        with pytest.raises(TypeError, match="a Linear cannot go into a model file, which holds no code"):
            describe(surface)
    with pytest.raises(TypeError, match="a Mine cannot"):  # what it overrides would be lost
        describe(Mine(1))


def test_a_name_is_given_once():
    assert "fully_connected" in known()
    with pytest.raises(ValueError, match="two surfaces"):
        saved_as("fully_connected")(FullyConnected)
