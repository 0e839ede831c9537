"""Archives: any tree of numbers, words and tensors comes back the same, from a file that is whole or not there."""

import json
from math import inf

import pytest
import torch
from hypothesis import given, strategies as st

from equipoise.training import archive
from equipoise.training.archive import ArchiveError

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.just("$"), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(tree=TREES)
def test_any_tree_comes_back_the_same(tree, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "tree"
    archive.write(path, tree)
    back = archive.read(path)
    assert back == tree
    assert repr(back) == repr(tree)  # tells 1 from 1.0, True from 1, and lists from tuples


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool],
)
def test_tensors_keep_type_shape_and_bits(dtype, tmp_path):
    shared = (torch.randn(6) * 100).to(dtype)
    tensors = [shared, shared[2:4], shared.view(2, 3).T, shared[:0], shared[0].clone(), shared]
    archive.write(tmp_path / "t", {"deep": [(t,) for t in tensors]})
    for (back,), tensor in zip(archive.read(tmp_path / "t")["deep"], tensors, strict=True):
        assert back.dtype == dtype
        assert torch.equal(back, tensor)


def test_numbers_that_json_has_no_word_for(tmp_path):
    archive.write(tmp_path / "t", [inf, -inf, float("nan"), -0.0, 5e-324, 2**80])
    values = archive.read(tmp_path / "t")
    assert values[:2] == [inf, -inf]
    assert values[2] != values[2]
    assert str(values[3]) == "-0.0"
    assert values[4:] == [5e-324, 2**80]


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j, len], ids=lambda v: type(v).__name__)
def test_what_is_code_or_unknown_is_not_written(value, tmp_path):
    path = tmp_path / "t"
    archive.write(path, "before")
    with pytest.raises(TypeError, match="cannot be written to a file that holds no code"):
        archive.write(path, {"a": [value]})
    assert archive.read(path) == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "t"
    archive.write(path, "before")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        archive.write(path, "after")
    assert archive.read(path) == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t"]


def test_every_flipped_byte_is_found(tmp_path):
    """Somewhere in the header, the document or a tensor: an error, or the very same tree where the byte was padding."""
    path = tmp_path / "t"
    tree = {"weights": torch.arange(4.0), "step": 7}
    archive.write(path, tree)
    whole = path.read_bytes()
    found = 0
    for place in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[place] ^= 4
        path.write_bytes(changed)
        try:
            back = archive.read(path)
        except ArchiveError:
            found += 1
        else:
            assert torch.equal(back["weights"], tree["weights"])
            assert back["step"] == 7
    assert found > 0.9 * len(whole) / 3


@pytest.mark.parametrize("content", [b"", b"\x00" * 7, b"\xff" * 64, b"{}", b"\x02\x00\x00\x00\x00\x00\x00\x00{}"])
def test_what_is_no_archive_is_refused(content, tmp_path):
    path = tmp_path / "t"
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match="not a file that equipoise wrote"):
        archive.read(path)
    with pytest.raises(ArchiveError, match="not a file that equipoise wrote"):
        archive.read(tmp_path / "absent")


def test_somebody_elses_safetensors_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(2)}, tmp_path / "t", metadata={"equipoise": json.dumps({"a": 1})})
    with pytest.raises(ArchiveError, match="sha256"):
        archive.read(tmp_path / "t")
    save_file({"a": torch.zeros(2)}, tmp_path / "t")
    with pytest.raises(ArchiveError, match="not a file that equipoise wrote"):
        archive.read(tmp_path / "t")
