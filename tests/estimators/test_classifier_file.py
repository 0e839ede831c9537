"""Model files of classifiers: the same probabilities bit for bit, or one line that says why not."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import make_moons
from tests.io.test_model_file import forge, put, refused, tensor
from torch import nn

from equipoise import Classifier, load, save

MOONS, SIDES = make_moons(400, noise=0.2, random_state=0)
FRESH = make_moons(200, noise=0.3, random_state=1)[0]
WORDS = np.array(["left", "right"])[SIDES]


@cache
def networks():
    """The default is to choose, so that a fit of few steps is made to keep its networks."""
    return Classifier(budget=300, random_state=0).fit(pd.DataFrame(MOONS, columns=["east", "north"]), WORDS)


MODELS = {
    "networks": networks,
    "planes": lambda: Classifier(budget=0, random_state=0).fit(MOONS, SIDES),
    "few rows": lambda: Classifier().fit(MOONS[:30], SIDES[:30]),
    "shares": lambda: Classifier(budget=0, random_state=0).fit(MOONS, np.arange(400) % 3),
    "other norm and priors": lambda: Classifier(norm=3.0, priors=[0.2, 0.8], budget=60, random_state=0).fit(
        MOONS, SIDES
    ),
    "bounded by the largest": lambda: Classifier(norm=np.inf, budget=60, random_state=0).fit(MOONS, SIDES),
    "a column left out": lambda: Classifier(budget=0).fit(np.c_[MOONS, np.ones(400)], SIDES == 1),
}


@pytest.fixture
def path(tmp_path):
    save(networks(), tmp_path / "model.eqp")
    return tmp_path / "model.eqp"


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_bit_for_bit(tmp_path, name):
    model = MODELS[name]()
    save(model, tmp_path / "model.eqp")
    again = load(tmp_path / "model.eqp")
    assert type(again) is Classifier
    fresh = FRESH if model.n_features_in_ == 2 else np.c_[FRESH, np.zeros(200)]
    for ask in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(again, ask)(fresh), getattr(model, ask)(fresh))
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.class_prior_, model.class_prior_)
    assert again.norm == model.norm
    for kept in ("selection_", "warnings_", "n_features_in_", "n_samples_", "n_selecting_"):
        assert getattr(again, kept) == getattr(model, kept)
    assert again.history_.gradient_norm == model.history_.gradient_norm
    assert hasattr(again, "feature_names_in_") == (name == "networks")
    save(again, tmp_path / "again.eqp")
    assert (tmp_path / "again.eqp").read_bytes() == (tmp_path / "model.eqp").read_bytes()


def test_the_networks_are_in_the_file():
    assert any("networks over" in row["name"] and row["weight"] for row in networks().selection_)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("classes", "values", ["right", "left"]), "sorted, and different"),
        (put("classes", "values", ["left", "middle", "right"]), "3 positive numbers that sum to 1"),
        (put("classes", "type", "int64"), "hold something else"),
        (put("classes", {}), "damaged"),
        (put("norm", 0.5), "needs norm >= 1"),
        (put("norm", "nan"), "needs norm >= 1"),
        (put("norm", "os"), "damaged"),
        (put("surface", "type", "eval"), "damaged"),
        (put("surface", "parts", []), "parts must be a list of 1 to"),
        (put("surface", "parts", 0, "surface", "outputs", 3), "not those of its blueprint"),
        (put("surface", {"type": "affine", "features": 10**9, "outputs": 2}), "not those of its blueprint"),
        (put("names", ["east"]), "1 names for 2 columns"),
        (put("samples", [1]), "damaged"),
        (put("selection", [3]), "damaged"),
        (put("history", {"stairs": []}), "damaged"),
        (put("warnings", None), "damaged"),
        (lambda document, _: document.pop("classes") and None, "damaged"),
        (tensor("shift", torch.zeros(3)), "one finite number per column"),
        (tensor("shift", torch.full((2,), torch.nan)), "one finite number per column"),
        (tensor("scale", torch.zeros(2)), "one finite number per column"),
        (tensor("scale", -torch.ones(2)), "one finite number per column"),
        (tensor("scale", torch.tensor([1.0, 0.0])), "damaged"),
        (tensor("scale", None), "damaged"),
        (tensor("shares", torch.tensor([0.5, 0.6])), "sum to 1"),
        (tensor("shares", torch.tensor([1.0, 0.0])), "2 positive numbers"),
        (lambda _, tensors: tensors.update({"priors": torch.ones(2)}), "sum to 1"),
        (lambda _, tensors: tensors.update({"surface.extra": torch.zeros(2)}), "not those of its blueprint"),
        (tensor("surface.parts.0.surface.bias", torch.full((2,), torch.inf).double()), "finite heights"),
        (tensor("surface.parts.1.mass", None), "not those of its blueprint"),
    ],
)
def test_a_forged_document_is_refused(path, change, words):
    forge(path, change)
    assert refused(path, words)


def test_an_unchanged_document_loads(path):
    forge(path, lambda *_: None)
    np.testing.assert_array_equal(load(path).predict_proba(FRESH), networks().predict_proba(FRESH))


def test_a_truncated_file_is_refused(path):
    path.write_bytes(path.read_bytes()[:-100])
    assert refused(path, "not a model file")


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 2)

    def forward(self, x):
        return self.inner(torch.cat([x, x[:, :1] * x[:, 1:]], dim=1))


def test_a_surface_of_ones_own_cannot_be_saved(tmp_path):
    y = ((MOONS - MOONS.mean(axis=0)).prod(axis=1) > 0.0).astype(int)
    model = Classifier(surface=Plain(), budget=300, random_state=0).fit(MOONS, y)
    with pytest.raises(TypeError, match="a Plain cannot go into a model file, which holds no code"):
        save(model, tmp_path / "model.eqp")
    assert list(tmp_path.iterdir()) == []
