"""The page on a fitted density: well formed, self-contained, safe from what it is given, and it says every number."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from tests.known import Known, normal, record

from equipoise import report
from equipoise.report.cautions import cautions_of
from equipoise.report.findings import check_normaliser, find, score
from equipoise.report.words import plus_minus

VOID = {"meta", "link"}


class Reader(HTMLParser):
    """Holds every element to its end tag, and collects text and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.attributes, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def said(self):
        return " ".join(" ".join(self.texts).split())


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


class Base:
    """A base over a Known density, as the estimator keeps it."""

    def __init__(self, density):
        self.density = density

    def sample(self, n, generator=None, dtype=None):
        return torch.from_numpy(self.density.sample(n, random_state=7)).to(dtype)

    def log_prob(self, x):
        return torch.from_numpy(self.density.score_samples(x.numpy()))


SELECTION = [
    {"name": "pso_lde over gaussian", "score": -1.5012, "se": 0.021, "weight": 0.75},
    {"name": "gaussian <b>", "score": -1.81, "se": 0.03, "weight": 0.25},
    {"name": "uniform", "score": float("-inf"), "se": float("inf"), "weight": 0.0},
]


def pushed(names=("east", "north"), **attributes):
    """A model whose density, base and normaliser are all known."""
    base = Known(stats.norm(0.0, 1.3), stats.norm(1.0, 2.6))
    settings = {
        "base_": Base(base),
        "surface_": object(),
        "log_normalizer_": -0.0421,
        "log_normalizer_se_": 0.0033,
        "selection_": SELECTION,
        "history_": record(),
        "instance_": SimpleNamespace(label="pso_lde(alpha=0.25)"),
    }
    return normal(2, names=list(names), **{**settings, **attributes})


def rows(model, n=600, seed=3):
    return pd.DataFrame(model.sample(n, random_state=seed), columns=[str(n) for n in model.feature_names_in_])


@pytest.fixture(scope="module")
def model():
    return pushed()


@pytest.fixture(scope="module")
def page(model):
    return report.density(model, rows(model), rows(model, 400, 4))


def test_it_is_well_formed_and_stands_alone(page):
    reader = read(page)
    assert page.startswith("<!doctype html>")
    assert "script" not in reader.tags
    assert not re.search(r"https?:|//\w|@import|url\((?!#)", page)
    for key, value in reader.attributes:
        assert not key.startswith("on")
        if key in {"href", "src", "xlink:href"}:
            assert value.startswith(("#", "data:"))
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:") in reader.attributes
    assert len(page) < 1_500_000


def test_ids_are_unique_and_all_references_lead_somewhere(page):
    reader = read(page)
    ids = [value for key, value in reader.attributes if key == "id"]
    assert len(set(ids)) == len(ids)
    wanted = {value[1:] for key, value in reader.attributes if key == "href" and value.startswith("#")}
    assert wanted | set(re.findall(r"url\(#([^)]+)\)", page)) == set(ids)


def test_every_number_asked_for_is_there(model, page):
    said = read(page).said
    test = rows(model, 400, 4).to_numpy()
    log_p = model.score_samples(test)
    gain = log_p - model.base_.density.score_samples(test)
    for values in (log_p, log_p - gain, gain):
        assert plus_minus(values.mean(), values.std(ddof=1) / 20.0) in said
    for words in ("−1.501 ± 0.021", "−1.810 ± 0.030", "−∞", "0.75", "0.25", "−0.0421 ± 0.0033", "pso_lde(alpha=0.25)"):
        assert words in said
    for words in (
        "600 rows, 2 columns (east, north), float64",
        "400 rows, 2 columns (east, north), float64",
        "measured on 400 untouched rows",
        "chosen on these rows",
        "0 of 400 rows have log p = −∞",
        "mixture of 2 candidates",
        "effective sample size",
    ):
        assert words in said


def test_every_section_is_there(page):
    reader = read(page)
    for words in (
        "What was read",
        "What was tried",
        "How good it is",
        "The normaliser",
        "Training",
        "Marginals",
        "Pairs",
        "Calibration",
    ):
        assert words in reader.said
    labels = [value for key, value in reader.attributes if key == "aria-label"]
    assert labels == [
        "Held-out gain along the push",
        "Forces along the push",
        "Marginal density 0: east",
        "Marginal density 1: north",
        "Joint density of columns 0 and 1: east, north",
        "Calibration of log p",
    ]


def test_the_same_model_gives_the_same_page(model):
    assert report.density(model, rows(model)) == report.density(model, rows(model))


def test_names_are_escaped_everywhere():
    names = ["<script>alert(1)</script>", '"onload="alert(2) x="', "a & b", "$\\frac{", "nul\x00 \u202e"]
    model = normal(
        5, names=names, selection_=[{"name": "<img src=x onerror=alert(3)>", "score": 0.0, "se": 0.1, "weight": 1.0}]
    )
    reader = read(report.density(model, model.sample(300, random_state=1), title="<script>title</script>"))
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert not [key for key, _ in reader.attributes if key.startswith("on")]
    for words in (
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(3)>",
        "a & b",
        "$\\frac{",
        "<script>title</script>",
    ):
        assert words in reader.said
    assert "\x00" not in reader.said
    assert "\u202e" not in reader.said


def test_without_rows_it_shows_the_model_alone():
    said = read(report.density(pushed())).said
    assert "No rows were given" in said
    assert "no rows were given" in said
    assert "measured on" not in said
    assert "chosen on the held-out rows" in said


def test_rows_that_may_have_been_fitted_claim_nothing(model):
    said = read(report.density(model, rows(model))).said
    assert "rows that may have been fitted to" in said
    assert "measured on" not in said


def test_a_base_alone_says_so():
    model = pushed(surface_=None, history_=None, log_normalizer_=0.0, log_normalizer_se_=0.0)
    said = read(report.density(model, rows(model), rows(model))).said
    assert "what is returned is a mixture of 2 bases" in said
    assert "No surface was pushed" in said
    assert "A surface pushed by" not in said
    assert "log Z = 0" in said


def test_one_column_and_many_columns_have_pages():
    one = normal(1, names=["x"])
    reader = read(report.density(one, one.sample(200, random_state=1)))
    assert "Pairs" not in reader.said
    many = normal(40)
    reader = read(report.density(many, many.sample(200, random_state=1)))
    labels = [value for key, value in reader.attributes if key == "aria-label"]
    assert sum(label.startswith("Marginal") for label in labels) == 12
    assert sum(label.startswith("Joint") for label in labels) == 6
    assert "And 10 more." in reader.said


def test_letters_that_a_font_lacks_and_columns_out_of_order():
    model = pushed(names=("温度", "湿度"))
    turned = rows(model)[["湿度", "温度"]]
    assert report.density(model, turned) == report.density(model, rows(model))


def test_the_normaliser_is_checked_on_fresh_rows(model):
    check = check_normaliser(model)
    assert abs(check.mean - 1.0) < 4.0 * check.se
    square = 1.3**2 / np.sqrt(2.0 * 1.3**2 - 1.0)  # E_base[(p/base)²] of one column, in closed form
    assert check.ess / check.n == pytest.approx(1.0 / square**2, rel=0.03)


def test_scores_leave_impossible_rows_out_and_count_them():
    model = Known(stats.uniform(), base_=Base(Known(stats.norm())))
    scores = score(model, np.array([[0.5], [0.25], [2.0]]))
    assert (scores.n, scores.impossible, scores.mean) == (3, 1, 0.0)
    assert scores.gain == pytest.approx(-stats.norm.logpdf([0.5, 0.25]).mean())
    assert np.isfinite(scores.base)


def cautions(model, X=None, test=None):
    return " ".join(cautions_of(find(model, X, test)))


def test_nothing_is_said_where_nothing_is_wrong(model):
    assert cautions(model, rows(model), rows(model, 400, 4)) == ""


def test_what_is_wrong_is_said_in_words(model):
    assert "own words" in cautions(pushed(warnings_=["own words"]))
    far = pushed(base_=Base(Known(stats.norm(0.0, 0.2), stats.norm(1.0, 0.2))))
    assert "fresh rows count like" in cautions(far)
    short = pushed()
    short.score_samples = lambda X: normal(2).score_samples(X) + 0.5
    assert "too high by 0.5" in cautions(short)
    wide = Known(stats.norm(0.0, 2.0), stats.norm(1.0, 4.0), names=["east", "north"])
    assert "too sure of itself" in cautions(model, None, rows(wide))
    narrow = Known(stats.norm(0.0, 0.5), stats.norm(1.0, 1.0), names=["east", "north"])
    assert "it is too wide" in cautions(model, None, rows(narrow))
    assert "worse than its base" in cautions(model, None, rows(wide))
    bounded = Known(stats.uniform(), base_=Base(Known(stats.norm())))
    assert "1 untouched row of 3 lie where the model says" in cautions(bounded, None, [[0.5], [0.25], [2.0]])
    coarse = normal(1)
    coarse.sample = lambda n, random_state=None: np.random.default_rng(0).choice(
        stats.norm.ppf(np.linspace(0.01, 0.99, 50)) ** 3, (n, 1)
    )
    assert "of the model's samples are different rows" in cautions(coarse)


def test_it_is_written_whole(tmp_path, model):
    path = tmp_path / "page.html"
    report.write(path, model, title="A title ±")
    assert "<title>A title ±</title>" in path.read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(ValueError, match="X has 3 columns, and the model has 2"):
        report.write(path, model, np.ones((5, 3)))
    assert "A title" in path.read_text(encoding="utf-8")
