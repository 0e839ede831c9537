"""`import equipoise` costs next to nothing; names load on first use."""

import json
import subprocess
import sys

import pytest

import equipoise

HEAVY = ("torch", "sklearn", "matplotlib", "pyarrow", "scipy", "numpy", "pandas", "polars")


def modules_after(code):
    program = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_import_loads_nothing_heavy():
    loaded = modules_after("import equipoise")
    assert "equipoise" in loaded
    assert not loaded & set(HEAVY)
    assert not {name for name in loaded if name.startswith("equipoise.")}


def test_the_catalogue_loads_torch_and_none_of_the_rest():
    loaded = modules_after("import equipoise; equipoise.catalog.nce")
    assert "torch" in loaded
    assert not loaded & {"sklearn", "matplotlib", "pyarrow", "pandas", "polars"}


@pytest.mark.parametrize("name", equipoise.__all__)
def test_every_public_name_loads(name):
    assert getattr(equipoise, name) is not None
    assert name in dir(equipoise)


def test_a_loaded_name_is_the_same_object():
    assert equipoise.Instance is equipoise.Instance  # from the module's own globals the second time
    assert "Instance" in vars(equipoise)


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(AttributeError, match=r"equipoise has no 'Densty'; it offers .*Density"):
        _ = equipoise.Densty


def test_version_is_the_distributions():
    assert equipoise.__version__.count(".") >= 1
