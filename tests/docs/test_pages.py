"""The pages say what is so: their examples run, and what is generated covers the registry."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise import catalog

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}
QUIET = os.environ | {"OMP_NUM_THREADS": "1"}  # small tensors: where the machine is busy, more threads only spin
WITH_EXAMPLES = [name for name, text in PAGES.items() if BLOCK.search(text)]


@pytest.fixture(scope="module")
def generate():
    sys.path.insert(0, str(DOCS))
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "_generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(DOCS))


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name, tmp_path):
    """A page's blocks, one after the other; in a process of their own, since one of them enters a method."""
    script = tmp_path / f"{name}.py"
    script.write_text("\n".join(BLOCK.findall(PAGES[name])), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=QUIET, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readmes_examples_run(tmp_path):
    """With a smaller budget than the reader's."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    fits = r"eq\.(Density|DensityRatio|MutualInformation|Classifier)\("
    quick, found = re.subn(fits, r"eq.\1(budget=20, ", "\n".join(BLOCK.findall(text)))
    assert found == 4
    (tmp_path / "data").symlink_to(DOCS.parent / "data")
    script = tmp_path / "readme.py"
    script.write_text(f"import matplotlib\nmatplotlib.use('Agg')\n{quick}", encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=QUIET, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "spirals.eqp").stat().st_size > 1000


def test_pages_have_examples():
    assert {"index", "relative_height", "catalogue", "choose_an_instance", "add_an_instance", "two_samples"} <= set(
        WITH_EXAMPLES
    )


def test_the_contents_list_every_page():
    listed = re.search(r"```\{toctree\}\n:hidden:\n\n(.*?)```", PAGES["index"], re.DOTALL).group(1).split()
    assert {"index", *listed} == set(PAGES)


def test_the_catalogue_page_has_a_section_for_every_method(generate):
    text = generate.catalogue()
    assert re.findall(r"^### (\w+)$", text, re.MULTILINE) == catalog.names()
    for instance in catalog.all():
        assert f"[`{instance.name}`](#{instance.name})" in text
        assert instance.estimand.tex in text


def test_the_catalogue_page_says_what_is_derived(generate):
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", generate.catalogue(), re.MULTILINE | re.DOTALL))
    for instance in catalog.all():
        text = sections[instance.name]
        assert ("| bounded (derived) | yes" in text) == instance.bounded
        assert ("| loss (derived) | closed form" in text) == instance.has_loss
        assert ("InRange(surface" in text) == (instance.range == "range must be K")
        assert ("surface (derived) | no balance" in text) == (instance.range == "no balance")
        assert ("negative magnitudes" in text) == (instance.sign < 0)


def test_generated_pages_are_left_alone_when_nothing_changed(generate, tmp_path):
    pages = generate.write(tmp_path)
    before = [page.stat().st_mtime_ns for page in pages]
    assert [page.stat().st_mtime_ns for page in generate.write(tmp_path)] == before


@pytest.mark.parametrize(
    ("value", "text"), [(float("inf"), "∞"), (-float("inf"), "−∞"), (-1.5707963267948966, "−π/2"), (-0.5, "−0.5")]
)
def test_numbers_are_written_as_one_would(generate, value, text):
    assert generate.number(value) == text


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("p/(exp(f) + p)", r"\dfrac{p}{e^{f} + p}"),
        ("abs(f)**degree*sign(f)", r"\lvert f \rvert^{d}\,\operatorname{sign} f"),
        ("-(1 + log(f))", r"-\left(1 + \log f\right)"),
        ("f - log(f + 1)", r"f - \log\left(f + 1\right)"),
        ("-f*p", r"-f \cdot p"),
        ("-exp(f)/p", r"-\dfrac{e^{f}}{p}"),
        ("exp(2*f)/p**2/2", r"\dfrac{e^{2\,f}}{2\,p^{2}}"),
        ("a - (b - f)", r"a - \left(b - f\right)"),
        ("(1 - f)**2/2", r"\dfrac{\left(1 - f\right)^{2}}{2}"),
        ("exp(f)**alpha", r"\left(e^{f}\right)^{\alpha}"),
        ("2*exp((log(p) - f)/2)", r"2\,e^{\left(\log p - f\right)/2}"),
        ("(f + 1)**(1/alpha)", r"\left(f + 1\right)^{1/\alpha}"),
        ("-cut_at(f, margin)", r"-\operatorname{cut\_at}\left(f, m\right)"),
    ],
)
def test_formulas_are_set_with_brackets_where_they_are_needed(generate, formula, expected):
    assert generate.tex(formula) == expected


def test_every_printed_formula_is_set(generate):
    text = generate.catalogue()
    for instance in catalog.all():
        if instance.printed:
            assert f"${generate.tex(instance.printed.up)}$" in text
            assert f"${generate.tex(instance.printed.down)}$" in text


def test_the_layers_are_those_of_the_contract(generate):
    text = generate.layers()
    for name in ("cli", "estimators", "catalog", "instance", "estimand", "reference"):
        assert re.search(rf"^\| `{name}` \| \w.{{15,}}[^.] \|$", text, re.MULTILINE)


def test_names_of_the_api_in_pages_exist():
    import equipoise as eq

    for text in PAGES.values():
        for name in set(re.findall(r"\beq\.([A-Za-z_]+)", text)):
            assert name in eq.__all__
        for name in set(re.findall(r"\beq\.catalog\.([a-z_0-9]+)", text)):
            assert hasattr(eq.catalog, name)
