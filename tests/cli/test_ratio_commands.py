"""``ratio`` and ``information``: two tables, or columns of one; results to files or standard output."""

import json
import signal
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli import main, streams
from equipoise.estimators.information_matrix import InformationMatrix
from equipoise.io import read_table


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], prog_name="equipoise")


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


RNG = np.random.default_rng(0)
NUM = pd.DataFrame(RNG.normal([0.8, 0.0], 1.0, size=(300, 2)), columns=["east", "north"])
DEN = pd.DataFrame(RNG.normal(size=(350, 2)), columns=["east", "north"])
LINKED = DEN.assign(height=DEN.east + 0.5 * RNG.normal(size=350))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ratio")
    for name, frame in (("num", NUM), ("den", DEN), ("linked", LINKED)):
        frame.to_csv(folder / f"{name}.csv", index=False)
        np.save(folder / f"{name}.npy", frame.to_numpy())
    return folder


@pytest.fixture(scope="module")
def fitted(folder):
    """A fit with everything that it can write."""
    out, model, picture = (folder / "new" / name for name in ("w.parquet", "r.eqp", "r.png"))
    asked = ["--out", out, "--model", model, "--plot", picture, "--budget", 30, "--seed", 3]
    return done("ratio", folder / "num.csv", folder / "den.csv", *asked), out, model, picture


def test_a_ratio_says_what_it_read_and_found_and_writes_its_files(folder, fitted):
    result, out, model, picture = fitted
    assert f"read     {folder}/num.csv: 300 rows, 2 columns (east, north), float64" in result.stderr
    assert f"read     {folder}/den.csv: 350 rows" in result.stderr
    loaded = eq.load(model)
    text = result.stdout
    lines = text.splitlines()
    assert lines[0].split() == ["candidate", "held-out", "score", "±", "SE", "weight"]
    for row in loaded.selection_:
        assert any(line.startswith(row["name"]) for line in lines)
    kl = loaded.divergence("kl")
    (said,) = [line for line in lines if line.startswith("KL(num‖den)")]
    value, _, error, low, _, high = said.replace("−", "-").split()[1:]
    assert float(value) == pytest.approx(kl.value, abs=0.01)
    assert float(error) == pytest.approx(kl.se, rel=0.06)
    assert (float(low), float(high)) == pytest.approx(kl.interval, abs=0.01)
    assert any(line.startswith("JS ") for line in lines)
    assert f"rows     {loaded.effective_sample_size_:.1f} of 350 of the denominator carry its weight" in text
    assert [f"weights  {out}", f"model    {model}", f"picture  {picture}"] == lines[-3:]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in out.parent.iterdir()) == ["r.eqp", "r.png", "w.parquet"]


def test_the_file_holds_log_ratios_and_weights_of_the_denominators_rows(fitted):
    _, out, model, _ = fitted
    loaded, table = eq.load(model), read_table(out)
    assert table.names == ("log_ratio", "weight")
    np.testing.assert_array_equal(table.values[:, 0], loaded.log_ratio(DEN))
    np.testing.assert_array_equal(table.values[:, 1], loaded.weights(DEN))
    np.testing.assert_allclose((table.values[:, [1]] * DEN).mean(axis=0), NUM.mean(axis=0), atol=0.25)


def test_the_same_in_json(folder):
    facts = json.loads(done("ratio", folder / "num.csv", folder / "den.csv", "--budget", 0, "--json").stdout)
    model = eq.DensityRatio(budget=0, random_state=0).fit(NUM, DEN)
    assert (facts["num"]["rows"], facts["den"]["rows"], facts["columns"]) == (300, 350, 2)
    assert facts["names"] == ["east", "north"]
    assert facts["score"] == pytest.approx(model.score_, abs=1e-9)
    assert list(facts["divergences"]) == ["kl", "reverse_kl", "js"]
    for kind, said in facts["divergences"].items():
        found = model.divergence(kind)
        assert said["value"] == pytest.approx(found.value, abs=1e-9)
        assert said["interval"] == pytest.approx(list(found.interval), abs=1e-9)
        assert said["is_bound"] is found.is_bound
    assert facts["effective_sample_size"] == pytest.approx(model.effective_sample_size_)
    assert [row["name"] for row in facts["candidates"]] == [row["name"] for row in model.selection_]


def test_columns_are_matched_by_name_and_what_was_done_is_said(folder, tmp_path):
    turned = tmp_path / "turned.csv"
    DEN[["north", "east"]].to_csv(turned, index=False)
    facts = json.loads(done("ratio", folder / "num.csv", turned, "--budget", 0, "--json").stdout)
    straight = json.loads(done("ratio", folder / "num.csv", folder / "den.csv", "--budget", 0, "--json").stdout)
    assert facts["score"] == straight["score"]
    assert f"{turned}'s columns were put into the order of {folder}/num.csv's, by name." in facts["warnings"]
    result = done("ratio", folder / "num.csv", folder / "den.npy", "--budget", 0)
    assert f"note     {folder}/den.npy has no column names" in result.stdout
    facts = json.loads(done("ratio", folder / "num.csv", turned, "--columns", "north", "--budget", 0, "--json").stdout)
    assert facts["names"] == ["north"]


def test_missing_values_are_counted_or_dropped(folder, tmp_path):
    holes, out = tmp_path / "holes.csv", tmp_path / "w.csv"
    DEN.mask(DEN.index.to_series() % 50 == 0).to_csv(holes, index=False)
    assert "7 of 350 rows" in run("ratio", folder / "num.csv", holes).stderr
    result = done("ratio", folder / "num.csv", holes, "--missing", "drop", "--budget", 0, "--out", out, "--json")
    assert "7 rows with missing values left out" in result.stderr
    assert json.loads(result.stdout)["den"] == {"rows": 343, "dropped": 7}
    assert read_table(out).shape == (343, 2)


def test_a_handful_of_rows_that_carry_all_is_said_and_bounds_are_told_from_others(folder, tmp_path):
    far = tmp_path / "far.csv"
    (NUM * 0.05 + 4.0).to_csv(far, index=False)
    asked = ("ratio", far, folder / "den.csv", "--budget", 0, "--out", tmp_path / "w.csv")
    text = done(*asked).stdout
    assert "rows carry the weight: averages with it are theirs alone" in text
    assert "The samples hardly overlap" in text
    assert "Lower bounds in the mean, exact where the ratio is: JS." in text
    assert "Mean log ratios over rows of one side, and no bounds: KL(num‖den), KL(den‖num)." in text


@pytest.mark.parametrize("kind", [None, "csv", "npy"])
def test_score_gives_a_ratios_log_ratios(folder, fitted, tmp_path, kind):
    model = fitted[2]
    expected = eq.load(model).log_ratio(NUM)
    if kind is None:
        text = done("score", model, folder / "num.csv").stdout
        assert text.startswith("log_ratio\n")
        np.testing.assert_array_equal(np.array(text.split()[1:], dtype=float), expected)
        said = json.loads(done("score", model, folder / "num.csv", "--json").stdout)
        assert said["log_ratio"] == expected.tolist()
    else:
        out = tmp_path / f"s.{kind}"
        assert "300 log ratios" in done("score", model, folder / "num.csv", "--out", out).stderr
        np.testing.assert_array_equal(read_table(out).values[:, 0], expected)


def test_information_of_two_sides_is_the_estimators(folder, tmp_path):
    out = tmp_path / "new" / "p.csv"
    asked = ("--x", "east,north", "--y", "height", "--budget", 0)
    result = done("information", folder / "linked.csv", *asked, "--out", out)
    model = eq.MutualInformation(budget=0, random_state=0).fit(LINKED[["east", "north"]], LINKED[["height"]])
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("I(east, north; height) = ")]
    value, _, error = line.split("= ")[1].split()[:3]
    assert float(value) == pytest.approx(model.value_, abs=0.01)
    assert float(error) == pytest.approx(model.se_, rel=0.06)
    np.testing.assert_array_equal(
        read_table(out).values[:, 0], model.pointwise(LINKED[["east", "north"]], LINKED[["height"]])
    )
    for table, x, y in (("linked.csv", "#0, north", "height"), ("linked.npy", "#0,#1", "#2")):
        again = ("information", folder / table, "--x", x, "--y", y, "--budget", 0, "--json")
        facts = json.loads(done(*again).stdout)
        assert facts["value"] == pytest.approx(model.value_, abs=1e-9)
        assert facts["se"] == pytest.approx(model.se_, abs=1e-9)
        assert facts["interval"] == pytest.approx(list(model.interval_), abs=1e-9)
    assert (facts["x"], facts["y"], facts["z"], facts["rows"]) == ([0, 1], [2], None, 350)


def test_information_given_others(folder):
    asked = ("information", folder / "linked.csv", "--x", "north", "--y", "height", "--z", "east", "--budget", 0)
    facts = json.loads(done(*asked, "--json").stdout)
    model = eq.MutualInformation(budget=0, random_state=0).fit(*(LINKED[[c]] for c in ("north", "height", "east")))
    assert facts["value"] == pytest.approx(model.value_, abs=1e-9)
    assert facts["z"] == ["east"]
    assert "I(north; height | east) = " in done(*asked).stdout


def test_the_matrix_lists_the_strongest_pairs_first(folder, tmp_path):
    out, picture = tmp_path / "pairs.parquet", tmp_path / "pairs.svg"
    asked = ("information", folder / "linked.csv", "--matrix", "--budget", 0)
    lines = done(*asked, "--out", out, "--plot", picture).stdout.splitlines()
    assert lines[1].startswith(("east ~ height ", "height ~ east "))
    assert len([line for line in lines if "~" in line]) == 3
    found = eq.MutualInformation(budget=0, random_state=0).matrix(LINKED)
    pairs = pd.read_parquet(out)
    assert list(pairs) == ["x", "y", "value", "se", "low", "high"]
    expected = found.strongest()
    assert list(pairs.x) == [pair[0] for pair in expected]
    np.testing.assert_allclose(pairs[["value", "se"]], [pair[2:] for pair in expected], atol=1e-12)
    np.testing.assert_allclose(pairs.high - pairs.value, 1.959964 * pairs.se, rtol=1e-6)
    assert "<svg" in picture.read_text(encoding="utf-8")
    facts = json.loads(done(*asked, "--columns", "east,height", "--json").stdout)
    ((pair,), names) = facts["pairs"], facts["names"]
    assert (names, pair["value"]) == (["east", "height"], pytest.approx(expected[0][2], abs=1e-9))


def test_of_many_pairs_the_strongest_are_shown_and_names_are_taken_literally(folder, monkeypatch):
    values = np.arange(64.0).reshape(8, 8)
    found = InformationMatrix(values, 0.1 + 0.0 * values, tuple(f"[b]{i}" for i in range(8)), ("Half was used.",))
    monkeypatch.setattr(eq.MutualInformation, "matrix", lambda *_: found)
    lines = done("information", folder / "linked.csv", "--matrix").stdout.splitlines()
    assert lines[1].split()[:4] == ["[b]6", "~", "[b]7", "55.00"]
    assert "and 8 weaker pairs; --out writes them all" in lines
    assert lines[-1] == "note     Half was used."
    assert len([line for line in lines if "~" in line]) == 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ratio", "{num}", "{none}.csv"), "no such file"),
        (("ratio", "{num}"), "Missing argument 'DEN'; equipoise ratio --help"),
        (("ratio", "{num}", "{linked}"), "num.csv has no column 'height'; pass the columns that both have: east"),
        (("ratio", "{num}", "{linked}", "--columns", "west"), "no column 'west'"),
        (("ratio", "{num}", "{three}"), "num.csv has 2 columns and"),
        (("ratio", "{num}", "{den}", "--out", "{none}.xlsx"), "got .xlsx"),
        (("ratio", "{num}", "{den}", "--plot", "{none}.docx"), "expected a picture that ends in"),
        (("ratio", "{num}", "{den}", "--instance", "unit"), "no ratio follows from it"),
        (("ratio", "{num}", "{den}", "--instance", "logistik"), "logistic"),
        (("ratio", "{num}", "{den}", "--budget", "soon"), "budget"),
        (("ratio", "{num}", "{one}"), "at least 2 on either side"),
        (("information", "{none}.csv", "--x", "a", "--y", "b"), "no such file"),
        (("information", "{linked}"), "give --x and --y, columns on either side, or --matrix"),
        (("information", "{linked}", "--x", "east"), "give --x and --y"),
        (("information", "{linked}", "--z", "east", "--matrix"), "and no --z"),
        (("information", "{linked}", "--x", "east", "--y", "height,east"), "one side only; twice asked for: east"),
        (("information", "{linked}", "--x", "east", "--y", "west"), "no column 'west'"),
        (("information", "{linked}", "--x", "east", "--y", "north", "--columns", "north"), "--columns goes with"),
        (("information", "{linked}", "--x", "east", "--y", "north", "--plot", "p.png"), "--plot goes with --matrix"),
        (("information", "{linked}", "--matrix", "--columns", "east"), "at least two columns, got 1"),
        (("information", "{linked}", "--matrix", "--out", "{none}.npy"), "pairs have names"),
        (("information", "{linked}", "--x", "east", "--y", "north", "--out", "{none}"), "no ending"),
        (("sample", "{model}", "3"), "holds a DensityRatio; this command takes a Density"),
        (("report", "{model}"), "holds a DensityRatio; this command takes a Density"),
        (("score", "{information}", "{linked}"), "a MutualInformation; this command takes a Density or a DensityRatio"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value)[:60],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(folder, tmp_path, fitted, information, arguments, words):
    DEN[:1].to_csv(tmp_path / "one.csv", index=False)
    places = {name: folder / f"{name}.csv" for name in ("num", "den", "linked")}
    places |= {"model": fitted[2], "none": tmp_path / "none", "one": tmp_path / "one.csv", "information": information}
    result = run(*(argument.format(**places, three=folder / "linked.npy") for argument in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    *said, last = result.stderr.splitlines()
    assert all(line.startswith("read ") for line in said)
    assert last.startswith("equipoise: ")
    assert words in last
    assert not list(tmp_path.glob("none*"))


@pytest.fixture(scope="module")
def information(folder):
    path = folder / "i.eqp"
    eq.save(eq.MutualInformation(budget=0, random_state=0).fit(LINKED.east, LINKED.height), path)
    return path


@pytest.mark.parametrize("command", ["ratio", "information"])
def test_every_command_helps_itself(command):
    text = done(command, "--help").stdout
    assert text.startswith(f"Usage: equipoise {command}")
    assert max(map(len, text.splitlines())) <= 100
    assert f"Example: equipoise {command}" in " ".join(text.split())


@pytest.mark.parametrize("command", ["ratio", "information"])
def test_ctrl_c_is_one_line_and_exit_code_130(folder, tmp_path, monkeypatch, command):
    fit = {"ratio": eq.DensityRatio, "information": eq.MutualInformation}[command]
    monkeypatch.setattr(fit, "fit", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    asked = [folder / "den.csv"] if command == "ratio" else ["--x", "east", "--y", "height"]
    table = folder / ("num.csv" if command == "ratio" else "linked.csv")
    result = run(command, table, *asked, "--out", tmp_path / "w.csv")
    assert result.exit_code == 130
    said = [line for line in result.stderr.splitlines() if line]
    assert said[-1] == "equipoise: interrupted; no file was left half written"
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_work_of_many_pushes_and_not_the_push_alone():
    def at(step, *_):
        if step == 3:
            signal.raise_signal(signal.SIGINT)

    def push():
        surface = eq.surfaces.FullyConnected(1, width=4, layers=1)
        pair = eq.Pair(torch.randn(50, 1), torch.randn(50, 1))
        return eq.push(surface, eq.catalog.logistic, pair, steps=20, n_up=10, seed=0, record_every=1, callbacks=[at])

    before = signal.getsignal(signal.SIGINT)
    with streams.at_once(), pytest.raises(KeyboardInterrupt):
        push()
    assert signal.getsignal(signal.SIGINT) is before
    assert push().interrupted  # by itself, a push keeps what it has


def test_warnings_of_weights_do_not_reach_the_terminal(folder, tmp_path):
    far = tmp_path / "far.csv"
    (NUM * 0.05 + 4.0).to_csv(far, index=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done("ratio", far, folder / "den.csv", "--budget", 0, "--out", tmp_path / "w.npy")
    assert not caught
