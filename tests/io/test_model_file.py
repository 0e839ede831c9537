"""Model files: the same scores bit for bit, or one line that says why not; loading runs no code."""

import json
import pickle
import re
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from equipoise import Density, Instance, bases, catalog, load, save
from equipoise.io import model_file
from equipoise.io.model_file import ModelFileError

RANDOM = np.random.default_rng(0)
ANGLE = RANDOM.uniform(0.0, 2.0 * np.pi, 600)
RING = np.column_stack([np.cos(ANGLE), np.sin(ANGLE)]) + 0.2 * RANDOM.normal(size=(600, 2))
FRESH = RANDOM.normal(size=(200, 2))


def fitted(X=RING, **settings):
    return Density(**{"budget": 60, "random_state": 0, **settings}).fit(X)


MODELS = {
    "surface": lambda: fitted(base="gaussian"),
    "surface in range": lambda: fitted(base="gaussian", instance="kliep"),
    "bounded surface": lambda: fitted(base="gaussian", instance="ldar"),
    "member of a family": lambda: fitted(base="gaussian", instance=catalog.pso_lde(0.5)),
    "family by a word": lambda: fitted(base="gaussian", instance=catalog.f_divergence("js")),
    "base alone": lambda: fitted(budget=0),
    "box": lambda: fitted(base="uniform", budget=0),
    "mixture": lambda: fitted(base="gaussian_mixture"),
    "given base": lambda: fitted(base=bases.Gaussian().fit(3.0 * RING)),
    "given box": lambda: fitted(base=bases.Uniform([-4.0, -4.0], [4.0, 4.0])),
    "mixture of bases": lambda: fitted(base=bases.Mixture([bases.Gaussian(), bases.Marginals()], [0.3, 0.7])),
    "names": lambda: fitted(pd.DataFrame(RING, columns=["east", "north"])),
    "few rows": lambda: fitted(RING[:30]),
}


@pytest.fixture
def model():
    return MODELS["surface"]()


@pytest.fixture
def path(tmp_path, model):
    save(model, tmp_path / "model.eqp")
    return tmp_path / "model.eqp"


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_bit_for_bit(tmp_path, name):
    model = MODELS[name]()
    save(model, tmp_path / "model.eqp")
    again = load(str(tmp_path / "model.eqp"))
    assert type(again) is Density
    for ask in ("score_samples", "height"):
        np.testing.assert_array_equal(getattr(again, ask)(FRESH), getattr(model, ask)(FRESH))
    np.testing.assert_array_equal(again.sample(20, random_state=1), model.sample(20, random_state=1))
    assert again.selection_ == model.selection_
    assert again.history_ == model.history_
    assert again.instance_.label == model.instance_.label
    assert (again.log_normalizer_, again.log_normalizer_se_) == (model.log_normalizer_, model.log_normalizer_se_)
    assert again.n_features_in_ == 2
    assert (again.surface_ is None) == (model.surface_ is None)
    assert hasattr(again, "feature_names_in_") == (name == "names")
    save(again, tmp_path / "again.eqp")
    assert (tmp_path / "again.eqp").read_bytes() == (tmp_path / "model.eqp").read_bytes()


def test_a_candidate_that_excluded_a_row_is_remembered(tmp_path):
    """JSON has no infinities; the selection has them."""
    model = MODELS["surface"]()
    model.selection_[0] |= {"score": -np.inf, "se": np.inf}
    save(model, tmp_path / "model.eqp")
    assert load(tmp_path / "model.eqp").selection_ == model.selection_


def test_saving_replaces_the_file_and_leaves_nothing_beside_it(path, model):
    before = path.read_bytes()
    other = fitted(base="uniform", budget=0)
    save(other, path)
    assert path.read_bytes() != before
    assert [entry.name for entry in path.parent.iterdir()] == ["model.eqp"]


@pytest.mark.parametrize("broken", ["os.fsync", "pathlib.Path.replace"])
def test_saving_is_all_or_nothing(monkeypatch, path, broken):
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(broken, fail)
    with pytest.raises(OSError, match="No space left"):
        save(fitted(base="uniform", budget=0), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["model.eqp"]


def test_a_model_file_is_as_readable_as_other_files(path):
    other = path.parent / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


# --- damage -----------------------------------------------------------------------------------------------------------


def refused(path, words):
    """Whether the file is refused, in one line that names it and says why."""
    with pytest.raises(ModelFileError) as error:
        load(path)
    said = str(error.value)
    return str(path) in said and "\n" not in said and re.search(words, said) is not None


def test_a_truncated_file_is_refused(path):
    content = path.read_bytes()
    for keep in (0, 4, 8, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:keep])
        assert refused(path, "not a model file")


def test_every_altered_byte_is_noticed(path):
    """Flipped in the length, in the header and in the tensors."""
    content = path.read_bytes()
    for at in [0, 7, 8, *RANDOM.integers(9, len(content), size=60).tolist(), len(content) - 1]:
        altered = bytearray(content)
        altered[at] ^= 0x41
        path.write_bytes(bytes(altered))
        assert refused(path, "not a model file|damaged|not one that equipoise wrote|unknown|later")


def test_appended_bytes_are_noticed(path):
    path.write_bytes(path.read_bytes() + b"\0" * 8)
    assert refused(path, "not a model file")


def pickled(path):
    path.write_bytes(pickle.dumps(Trap()))


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Trap()))


FOREIGN = {
    "text": (lambda path: path.write_text("log_density\n1.0\n"), "not a model file"),
    "pickle": (pickled, "not a model file"),
    "zip": (zipped, "not a model file"),
    "torch": (lambda path: torch.save({"weight": torch.ones(2)}, path), "not a model file"),
    "empty": (lambda path: path.write_bytes(b""), "not a model file"),
    "huge": (lambda path: path.write_bytes(struct.pack("<Q", 2**60) + b"{}"), "not a model file"),
    "safetensors": (lambda path: save_file({"weight": torch.ones(2)}, path), "not one that equipoise wrote"),
}


class Trap:
    """Unpickling this would raise the alarm."""

    def __reduce__(self):
        return pytest.fail, ("loading ran code",)


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_file_is_refused_and_not_run(tmp_path, name):
    write, words = FOREIGN[name]
    write(tmp_path / "model.eqp")
    assert refused(tmp_path / "model.eqp", words)


def test_no_file_is_refused(tmp_path):
    assert refused(tmp_path / "none.eqp", "no such file")
    assert refused(tmp_path, "no such file")


# --- forged documents, with a digest that fits ------------------------------------------------------------------------


def forge(path, change):
    with safe_open(path, framework="pt") as file:
        document = json.loads(file.metadata()["equipoise"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
    del document["sha256"]
    forged = change(document, tensors) or document
    if isinstance(forged, dict):
        forged["sha256"] = model_file._digest(forged, tensors)
    save_file(tensors, path, metadata={"equipoise": json.dumps(forged)})


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(document, tensors):
        inner = document
        for key in keys:
            inner = inner[key]
        inner[last] = value

    return change


def member(*keys_and_value):
    """Put into the only member."""
    return put("members", 0, *keys_and_value)


def tensor(name, value):
    """Put a tensor in a tensor's place, or None to leave it out."""

    def change(_, tensors):
        del tensors[name]
        tensors.update({} if value is None else {name: value})

    return change


def test_an_unchanged_document_loads(path, model):
    forge(path, lambda *_: None)
    np.testing.assert_array_equal(load(path).score_samples(FRESH), model.score_samples(FRESH))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("version", 2), r"written by a later equipoise \(format 2, this one reads up to 1\)"),
        (put("version", "1"), "header is damaged"),
        (lambda *_: [1], "header is damaged"),
        (put("kind", "os.system"), "unknown kind of model, 'os.system'"),
        (put("kind", ["density"]), "unknown kind of model"),
        (put("instance", "name", "system"), "the catalogue has no 'system'"),
        (put("instance", "name", "unit"), "damaged"),
        (put("instance", {"name": "softmax_cross_entropy", "parameters": {}}), "no density follows"),
        (put("instance", "parameters", {"alpha": -1.0}), "pso_lde needs 0 < alpha"),
        (put("instance", "parameters", {"alpha": "os"}), "damaged"),
        (put("instance", "parameters", {"beta": 1.0}), "damaged"),
        (put("instance", "nce"), "damaged"),
        (member("instance", {"name": "softmax_cross_entropy", "parameters": {}}), "no density follows"),
        (member("instance", "parameters", {"alpha": -1.0}), "pso_lde needs 0 < alpha"),
        (member("instance", None), "damaged"),
        (member("base", "name", "subprocess"), "damaged"),
        (member("base", "parameters", {"shrinkage": 7.0}), "shrinkage"),
        (member("base", "parameters", {"shell": True}), "damaged"),
        (member("base", None), "damaged"),
        (member("surface", "type", "eval"), "damaged"),
        (member("surface", 5), "damaged"),
        (member("surface", "width", 10**9), "not those of its blueprint"),
        (member("surface", "layers", 10**12), "counted in integers from 1 to"),
        (member("surface", "layers", -1), "counted in integers from 1 to"),
        (member("surface", "width", 8.5), "counted in integers from 1 to"),
        (member("surface", "activation", "exec"), "expected one of leaky_relu, .*got 'exec'"),
        (member("surface", "features", 3), "not those of its blueprint"),
        (put("features", 3), "damaged"),
        (put("features", -1), "positive integer"),
        (put("features", 10**15), "damaged"),
        (put("names", ["east"]), "1 names for 2 columns"),
        (member("normalizer", ["nan", 0.0, 900.0, 1000, 0.1]), "log Z must be finite"),
        (member("normalizer", [0.0]), "damaged"),
        (member("normalizer", [0.0, -0.1, 900.0, 1000, 0.1]), "log Z must be finite"),
        (member("least", "nan"), "floor of log R must be finite"),
        (member("least", 3.0), "floor of log R must be finite"),
        (put("members", []), "do not fit together"),
        (put("members", {}), "do not fit together"),
        (put("members", 0, 7), "damaged"),
        (put("weights", [0.5, 0.5]), "do not fit together"),
        (put("weights", [0.9]), "do not fit together"),
        (put("weights", ["nan"]), "do not fit together"),
        (put("member_names", []), "do not fit together"),
        (put("inside", 0.0), "do not fit together"),
        (put("inside", "nan"), "do not fit together"),
        (put("samples", [600]), "damaged"),
        (put("selection", [3]), "damaged"),
        (put("history", {"stairs": []}), "damaged"),
        (lambda document, _: document.pop("history") and None, "damaged"),
        (tensor("shift", torch.zeros(3)), "expected 2 finite numbers"),
        (tensor("shift", torch.full((2,), torch.nan)), "expected 2 finite numbers"),
        (tensor("scale", torch.zeros(2)), "do not fit together"),
        (tensor("scale", None), "damaged"),
        (tensor("low", torch.full((2,), torch.nan)), "expected 2"),
        (tensor("high", torch.full((2,), -torch.inf)), "do not fit together"),
        (tensor("member.0.base.mean_", torch.zeros(3)), "damaged"),
        (tensor("member.0.base.factor_", torch.full((2, 2), torch.nan)), "do not fit together"),
        (tensor("member.0.base.factor_", None), "damaged"),
        (tensor("member.0.surface.last.weight", torch.zeros(1, 3)), "not those of its blueprint"),
        (tensor("member.0.surface.last.bias", None), "not those of its blueprint"),
        (lambda _, tensors: tensors.update({"member.0.surface.extra": torch.zeros(2)}), "not those of its blueprint"),
    ],
)
def test_a_forged_document_is_refused(path, change, words):
    forge(path, change)
    assert refused(path, words)


def test_a_deeply_nested_document_is_refused(path):
    surface = {"type": "fully_connected"}
    for _ in range(400):
        surface = {"type": "in_range", "interval": [0.0, 1.0], "surface": surface}
    forge(path, member("surface", surface))
    assert refused(path, "inside more than")
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
    save_file(tensors, path, metadata={"equipoise": "[" * 200_000})
    assert refused(path, "header is damaged")


# --- what cannot be saved ---------------------------------------------------------------------------------------------


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 1)

    def forward(self, x):
        return self.inner(torch.cat([x, x**2], dim=1)).squeeze(1)


WIDE = torch.distributions.Normal(torch.zeros(2).double(), torch.full((2,), 3.0).double())
MINE = Instance("mine", catalog.nce.up, catalog.nce.down, estimand=catalog.nce.estimand)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: fitted(base=bases.Gaussian().fit(3.0 * RING), surface=Own(), budget=300),
            "an? Own cannot go into a model file, which holds no",
        ),
        (lambda: fitted(base=WIDE, budget=0), "a density over a Normal cannot go into a model file: use a base of"),
        (lambda: fitted(instance=MINE, budget=0), "mine is not in the catalogue, and a model file holds no code"),
        (
            lambda: fitted(instance=catalog.bregman_density(torch.exp), budget=0),
            "holds a function, and a model file holds no code",
        ),
        (Own, "cannot save a Own: expected a fitted equipoise estimator"),
    ],
    ids=["surface", "distribution", "instance", "function", "stranger"],
)
def test_what_cannot_be_saved_says_why(tmp_path, make, words):
    with pytest.raises(TypeError, match=words):
        save(make(), tmp_path / "model.eqp")
    assert list(tmp_path.iterdir()) == []


def test_an_unfitted_model_is_not_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        save(Density(), tmp_path / "model.eqp")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_said(tmp_path, model):
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "none" / "model.eqp")
