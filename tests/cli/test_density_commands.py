"""``fit``, ``score``, ``sample`` and ``report``: results to files or standard output, the rest to standard error."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli import main
from equipoise.io import read_table


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], prog_name="equipoise")


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(RNG.normal(size=(400, 2)) @ [[2.0, 0.5], [0.0, 0.3]] + [5.0, -1.0], columns=["east", "north"])


def saved(folder, kind, frame=ROWS):
    path = folder / f"rows.{kind}"
    {
        "csv": lambda: frame.to_csv(path, index=False),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
        "npy": lambda: np.save(path, frame.to_numpy()),
        "npz": lambda: np.savez(path, **{c: frame[c].to_numpy() for c in frame}),
    }[kind]()
    return path


KINDS = ["csv", "parquet", "feather", "npy", "npz"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def fitted(folder):
    """A fit with everything that it can write."""
    table, test = saved(folder, "csv"), folder / "test.csv"
    ROWS.iloc[::-1][["north", "east"]].iloc[:100].to_csv(test, index=False)
    files = {
        "--out": folder / "new" / "m.eqp",
        "--report": folder / "new" / "p.html",
        "--plot": folder / "new" / "p.png",
    }
    asked = [str(part) for pair in files.items() for part in pair]
    result = done("fit", table, *asked, "--test", test, "--budget", 60, "--seed", 3)
    return result, files["--out"], files["--report"], files["--plot"], table, test


def test_a_fit_says_what_it_read_and_chose_and_writes_its_files(fitted):
    result, model, page, picture, table, test = fitted
    assert f"read     {table}: 400 rows, 2 columns (east, north), float64" in result.stderr
    assert f"test     {test}: 100 rows" in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["candidate", "held-out", "log", "p", "±", "SE", "weight"]
    loaded = eq.load(model)
    for row in loaded.selection_:
        assert any(line.startswith(row["name"]) for line in lines)
    assert any(line.startswith("measured on 100 untouched rows: ") for line in lines)
    assert f"model    {model}" in lines
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "measured on 100 untouched rows" in page.read_text(encoding="utf-8")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in model.parent.iterdir()) == ["m.eqp", "p.html", "p.png"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_fits_alike_and_answers_in_json(tmp_path, kind):
    facts = json.loads(done("fit", saved(tmp_path, kind), "--budget", 0, "--base", "gaussian", "--json").stdout)
    assert (facts["rows"], facts["columns"], facts["dropped"], facts["surface"]) == (400, 2, 0, False)
    assert facts["names"] == ([] if kind == "npy" else ["east", "north"])
    model = eq.Density(base="gaussian", budget=0, random_state=0).fit(ROWS)
    assert facts["candidates"][0]["score"] == pytest.approx(model.selection_[0]["score"], abs=1e-9)
    assert facts["untouched"] is None


def test_json_measures_untouched_rows(tmp_path, fitted):
    table, test = fitted[4:]
    facts = json.loads(done("fit", table, "--test", test, "--budget", 0, "--json").stdout)
    model = eq.Density(budget=0, random_state=0).fit(ROWS)
    measured = facts["untouched"]
    assert measured["score"] == pytest.approx(model.score(read_table(test)))
    assert (measured["rows"], measured["impossible"]) == (100, 0)


def test_columns_are_chosen_by_name_and_position(tmp_path):
    path = tmp_path / "rows.csv"
    ROWS.assign(name="text", more=1.0)[["name", "north", "more", "east"]].to_csv(path, index=False)
    facts = json.loads(done("fit", path, "--columns", "east, north", "--budget", 0, "--json").stdout)
    assert facts["names"] == ["east", "north"]
    facts = json.loads(done("fit", path, "--columns", "#1,#3", "--budget", 0, "--json").stdout)
    assert facts["names"] == ["north", "east"]
    assert "not numbers in column 'name' ('text')" in run("fit", path).stderr


def test_missing_values_are_counted_or_dropped(tmp_path):
    path = saved(tmp_path, "csv", ROWS.mask(ROWS.index.to_series() % 40 == 0))
    refused = run("fit", path)
    assert refused.exit_code == 2
    assert "10 of 400 rows (by column, 'east': 10, 'north': 10)" in refused.stderr
    result = done("fit", path, "--missing", "drop", "--budget", 0, "--json")
    assert "10 rows with missing values left out" in result.stderr
    assert (json.loads(result.stdout)["rows"], json.loads(result.stdout)["dropped"]) == (390, 10)


def test_the_method_may_have_numbers(tmp_path, fitted):
    path = fitted[4]
    result = done("fit", path, "--instance", "pso_lde(alpha=0.5)", "--budget", 20, "--json")
    assert json.loads(result.stdout)["instance"] == "pso_lde(alpha=0.5)"


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_scores_are_those_of_the_model(tmp_path, fitted, kind):
    _, model, *_, table, _ = fitted
    expected = eq.load(model).score_samples(ROWS)
    out = None if kind is None else tmp_path / "new" / f"scores.{kind}"
    result = done("score", model, table, *([] if out is None else ["--out", out]))
    assert "400 rows" in result.stderr
    if out is None:
        assert result.stdout.startswith("log_density\n")
        np.testing.assert_array_equal(np.array(result.stdout.split()[1:], dtype=float), expected)
    else:
        assert result.stdout == ""
        assert "wrote    400 log densities" in result.stderr
        np.testing.assert_array_equal(read_table(out).values[:, 0], expected)


def test_scores_in_json_hold_no_infinities(tmp_path):
    path, model = saved(tmp_path, "csv"), tmp_path / "m.eqp"
    done("fit", path, "--base", "uniform", "--budget", 0, "--out", model)
    far = saved(tmp_path, "npy", pd.DataFrame([[5.0, -1.0], [1e6, 1e6]]))
    said = json.loads(done("score", model, far, "--json").stdout)
    loaded = eq.load(model).score_samples([[5.0, -1.0]])
    assert said["log_density"][0] == loaded[0]
    assert (said["log_density"][1], said["impossible"], said["rows"]) == (None, 1, 2)
    assert said["mean"] == loaded[0]


def test_a_table_is_matched_to_the_model_by_name(tmp_path, fitted):
    model, table = fitted[1], fitted[4]
    turned = saved(tmp_path, "parquet", ROWS.assign(more="text")[["more", "north", "east"]])
    assert done("score", model, turned).stdout == done("score", model, table).stdout
    result = run("score", model, saved(tmp_path, "csv", ROWS.rename(columns={"east": "west"})))
    assert result.exit_code == 2
    assert "east" in result.stderr


def test_many_rows_are_scored_and_drawn_in_parts(tmp_path, fitted, monkeypatch):
    from equipoise.cli import streams

    model, table = fitted[1], fitted[4]
    whole = done("score", model, table).stdout
    monkeypatch.setattr(streams, "PART", 64)
    assert done("score", model, table).stdout == whole
    rows = read_table(saved_text(tmp_path, done("sample", model, 150).stdout))
    assert rows.shape == (150, 2)
    assert len(np.unique(rows.values, axis=0)) > 100  # parts do not repeat each other


def saved_text(folder, text):
    path = folder / "text.csv"
    path.write_text(text)
    return path


def test_samples_are_the_models(tmp_path, fitted):
    model = fitted[1]
    text = done("sample", model, 200, "--seed", 5).stdout
    assert text.startswith("east,north\n")
    assert text == done("sample", model, 200, "--seed", 5).stdout
    assert text != done("sample", model, 200, "--seed", 6).stdout
    out = tmp_path / "s.npy"
    done("sample", model, 200, "--seed", 5, "--out", out)
    np.testing.assert_array_equal(np.load(out), read_table(saved_text(tmp_path, text)).values)
    assert np.load(out).mean(axis=0) == pytest.approx(ROWS.mean().to_numpy(), abs=0.7)
    said = json.loads(done("sample", model, 2, "--json").stdout)
    assert said["names"] == ["east", "north"]
    assert np.shape(said["rows"]) == (2, 2)


def test_a_report_can_be_written_later(tmp_path, fitted):
    _, model, *_, table, test = fitted
    out = tmp_path / "new" / "p.html"
    done("report", model, table, "--test", test, "--out", out, "--title", "A <title>")
    page = out.read_text(encoding="utf-8")
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert "measured on 100 untouched rows" in page
    alone = done("report", model)
    assert "No rows were given" in alone.stdout
    assert alone.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "{none}.csv"), "no such file"),
        (("fit", "{text}"), "not numbers in column 'a' ('u')"),
        (("fit", "{table}", "--columns", "west"), "no column 'west'; there are east, north"),
        (("fit", "{table}", "--columns", "#7"), "no column 7"),
        (("fit", "{table}", "--instance", "ncee"), "did you mean nce"),
        (("fit", "{table}", "--instance", "pso_lde(alpha=x)"), "such as pso_lde(alpha=0.5)"),
        (("fit", "{table}", "--base", "cauchy"), "cauchy"),
        (("fit", "{table}", "--budget", "soon"), "budget"),
        (("fit", "{table}", "--test", "{none}.npy"), "no such file"),
        (("fit", "{table}", "--plot", "{none}.docx", "--budget", "0"), "expected a picture that ends in"),
        (("fit", "{table}", "--missing", "mean"), "'mean' is not one of"),
        (("fit", "{constant}"), "one value only"),
        (("fit",), "Missing argument 'TABLE'; equipoise fit --help"),
        (("fitt",), "No such command 'fitt'"),
        (("fit", "{table}", "--bugdet", "3"), "No such option"),
        (("score", "{table}", "{table}"), "not a model file"),
        (("score", "{none}.eqp", "{table}"), "no such file"),
        (("score", "{model}", "{table}", "--out", "{none}.xlsx"), "got .xlsx"),
        (("sample", "{model}", "0"), "x>=1"),
        (("sample", "{model}", "many"), "not a valid int"),
        (("sample", "{model}", "3", "--out", "{none}"), "no ending"),
        (("report", "{table}"), "not a model file"),
        (("report", "{model}", "{text}"), "a"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value)[:40],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, fitted, arguments, words):
    text, constant = tmp_path / "text.csv", tmp_path / "constant.csv"
    text.write_text("a,b\nu,1\n")
    ROWS.assign(east=1.0).to_csv(constant, index=False)
    places = {"table": fitted[4], "model": fitted[1], "none": tmp_path / "none", "text": text, "constant": constant}
    result = run(*(argument.format(**places) for argument in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    *said, last = result.stderr.splitlines()
    assert all(line.startswith(("read ", "test ")) for line in said)
    assert last.startswith("equipoise: ")
    assert words in last
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", ["fit", "score", "sample", "report", "catalog", "check"])
def test_every_command_helps_itself(command):
    text = done(command, "--help").stdout
    assert text.startswith(f"Usage: equipoise {command}")
    assert max(map(len, text.splitlines())) <= 100
    if command != "catalog":
        assert f"Example: equipoise {command}" in " ".join(text.split())


def test_without_a_command_it_lists_them():
    result = run()
    assert result.exit_code == 2
    assert "Commands:" in result.stdout


@pytest.mark.parametrize("interrupt", ["raise", "mark"])
def test_ctrl_c_is_one_line_and_exit_code_130(tmp_path, monkeypatch, interrupt):
    def fit(self, X):
        if interrupt == "raise":
            raise KeyboardInterrupt
        self.history_ = type("History", (), {"interrupted": True})()
        return self

    monkeypatch.setattr(eq.Density, "fit", fit)
    result = run("fit", saved(tmp_path, "csv"), "--out", tmp_path / "m.eqp")
    assert result.exit_code == 130
    said = [line for line in result.stderr.splitlines() if line]  # a terminal shows ^C, so click begins a new line
    assert said[1:] == ["equipoise: interrupted; no file was left half written"]
    assert not (tmp_path / "m.eqp").exists()


def test_from_a_shell(tmp_path, fitted):
    command = [sys.executable, "-m", "equipoise"]
    refused = subprocess.run([*command, "fit", tmp_path / "none.csv"], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"equipoise: {tmp_path}/none.csv: no such file\n"
    piped = f"{sys.executable} -m equipoise sample {fitted[1]} 20000 | head -2"
    first = subprocess.run(["/bin/sh", "-c", piped], capture_output=True, text=True, check=False)
    assert first.stdout.startswith("east,north\n")
    assert first.stderr == ""
