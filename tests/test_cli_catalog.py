"""``equipoise catalog`` and ``equipoise check``: everything the registry knows can be read from a shell."""

import json
import re

import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise import formula
from equipoise.catalog import bibliography
from equipoise.cli import main


def run(*arguments: str):
    return CliRunner().invoke(main, list(arguments))


def test_the_list_names_every_method():
    result = run("catalog")
    assert result.exit_code == 0
    for name in eq.catalog.names():
        assert name in result.stdout


@pytest.mark.parametrize("number", range(1, 7))
def test_a_table_lists_its_rows_and_no_others(number):
    rows = json.loads(run("catalog", "--table", str(number), "--json").stdout)
    assert [row["name"] for row in rows] == [instance.name for instance in eq.catalog.table(number)]


@pytest.mark.parametrize("instance", eq.catalog.all(), ids=lambda i: i.label)
def test_one_method_is_shown_with_its_verdict_and_place(instance):
    result = run("catalog", instance.name)
    assert result.exit_code == 0
    assert f"verdict: {instance.range}" in result.stdout
    assert instance.reference.place in result.stdout


def test_json_of_one_method_is_what_the_instance_says():
    facts = json.loads(run("catalog", "ndmr", "--json").stdout)
    assert facts["interval"] == [0.0, None]
    assert facts["reachable"] == [0.0, 1.0]
    assert facts["range"] == "any range"
    assert facts["tables"] == [3]
    assert (facts["feasible"], facts["bounded"], facts["needs_base"], facts["has_loss"]) == (True, False, False, True)
    assert facts["printed"]["loss_down"] == "f**2"
    assert [pairing["name"] for pairing in facts["pairings"]] == ["mixture"]


def test_one_method_is_shown_with_its_loss_and_every_pairing():
    shown = run("catalog", "unit").stdout
    assert "E_up[-f] + E_down[f]" in shown
    for pairing in eq.catalog.unit.pairings:
        assert pairing.words in shown
    assert "unknown" in run("catalog", "pso_lde").stdout  # to the paper


def test_bibtex_holds_the_works_cited_and_only_those():
    text = run("catalog", "nce", "--bibtex").stdout
    for key in eq.catalog.nce.reference.cite:
        assert bibliography.entry(key).bibtex in text
    assert text.count("\n@") + text.startswith("@") == len(eq.catalog.nce.reference.cite)


def test_check_reads_formulas():
    result = run("check", "1/(exp(u)+1)", "1/(exp(-u)+1)")
    assert result.exit_code == 0
    assert "verdict: any range" in result.stdout


def test_check_takes_an_interval_and_answers_in_json():
    report = json.loads(run("check", "1/u", "1/(1-u)", "--interval", "0,1", "--json").stdout)
    assert report["verdict"] == "range must be K"
    assert report["interval"] == [0.0, 1.0]
    assert any(not condition["holds"] and condition["at"] is not None for condition in report["conditions"])


def test_check_reads_a_formula_that_begins_with_a_minus():
    result = run("check", "--interval", "0,1", "--", "-1/u", "-1/(1-u)")
    assert result.exit_code == 0
    assert "verdict" in result.stdout


def test_check_draws_the_curve(tmp_path):
    picture = tmp_path / "curve.png"
    assert run("check", "1 - u", "1 + u", "--plot", str(picture)).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_check_says_which_functions_formulas_may_name():
    said = " ".join(run("check", "--help").stdout.split())
    listed = re.search(r"and the functions ([a-z_, ]+)\.", said).group(1)
    assert set(re.findall(r"\w+", listed)) - {"and"} == {*formula._FUNCTIONS, *formula._PICKS}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("catalog", "ncee"), "did you mean nce"),
        (("catalog", "--table", "7"), "tables are 1 to 6"),
        (("catalog", "nce", "--table", "1"), "not both"),
        (("check", "__import__('os')", "u"), "the functions are exp, log"),
        (("check", "v", "u"), "'v'"),
        (("check", "1", "u", "--interval", "0"), "two numbers"),
        (("check", "1", "u", "--interval", "1,0"), "low < high"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert said in result.stderr


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_explains_itself_with_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"\n  Example: equipoise {command} " in result.stdout
    assert "\\" not in result.stdout
