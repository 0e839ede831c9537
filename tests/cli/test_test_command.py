"""``test``: the answer and the columns to standard output, the page to a file, bad input in one line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], prog_name="equipoise")


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


RNG = np.random.default_rng(0)
OLD = pd.DataFrame(RNG.normal(size=(150, 2)), columns=["east", "north"])
NEW = pd.DataFrame(RNG.normal([0.0, 0.9], 1.0, size=(120, 2)), columns=["east", "north"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("test")
    OLD.to_csv(folder / "old.csv", index=False)
    NEW[["north", "east"]].to_parquet(folder / "new.parquet")
    np.save(folder / "wide.npy", np.zeros((9, 5)))
    return folder


def test_the_answer_is_said_and_the_page_written(folder):
    page = folder / "made" / "page.html"
    result = done("test", folder / "old.csv", folder / "new.parquet", "--report", page)
    assert f"read     {folder}/old.csv: 150 rows, 2 columns (east, north), float64" in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "The two samples differ (p = 0.0033, level 0.05)."
    assert any(line.startswith("north") for line in lines)
    assert "Alone, north differs. Given the others, north differs." in lines
    assert "note     Y's columns were put into the order of X's, by name." in lines
    assert lines[-1] == f"report   {page}"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<h1>old.csv and new.parquet</h1>" in text


def test_json_holds_what_python_finds(folder):
    facts = json.loads(done("test", folder / "old.csv", folder / "new.parquet", "--json", "--seed", 3).stdout)
    ours = eq.TwoSampleTest(random_state=3).fit(OLD, NEW).report_.facts
    assert facts == {**ours, "warnings": facts["warnings"], "files": {}}


def test_options_reach_the_test(folder):
    asked = ["--statistic", "mmd", "--level", 0.01, "--permutations", 199, "--columns", "east", "--json"]
    facts = json.loads(done("test", folder / "old.csv", folder / "new.parquet", *asked).stdout)
    assert (facts["permutations"], facts["level"]) == (199, 0.01)
    assert [column["name"] for column in facts["columns"]] == ["east"]
    assert [question["name"] for question in facts["questions"]] == ["mmd"]
    assert facts["rejected"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["wide.npy"], "X and Y must have the same columns"),
        (["absent.csv"], "absent.csv"),
        (["new.parquet", "--statistic", "mdm"], "statistic must be 'auto'"),
        (["new.parquet", "--permutations", "few"], "permutations must be 'auto' or a whole number"),
        (["new.parquet", "--level", "2"], "level must lie between 0 and 1"),
    ],
)
def test_bad_input_is_one_line(folder, arguments, words):
    result = run("test", folder / "old.csv", folder / arguments[0], *arguments[1:])
    assert result.exit_code == 2
    assert words in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
