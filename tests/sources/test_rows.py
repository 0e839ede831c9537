"""Rows: every row once per epoch, weights beside their rows, and nothing that is no table."""

import tracemalloc

import numpy as np
import pytest
import torch

from equipoise.sources import Rows

TABLE = np.arange(24.0).reshape(12, 2)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(source, n, seeded, dtype=torch.float64):
    out = torch.empty(n, source.features, dtype=dtype)
    weight = source.draw(out, seeded)
    return out, weight


@pytest.mark.parametrize("batch", [1, 5, 12, 31])
def test_every_row_comes_once_before_any_comes_twice(batch):
    source, seeded = Rows(TABLE), generator()
    seen = torch.cat([drawn(source, batch, seeded)[0][:, 0] for _ in range(-(-36 // batch))])[:36]
    for epoch in seen.split(12):
        assert sorted(epoch.tolist()) == TABLE[:, 0].tolist()
    assert seen[:12].tolist() != seen[12:24].tolist()


def test_with_replacement_rows_are_independent():
    """Of n draws from n rows a share 1/e is never drawn; five standard errors around it."""
    n = 4000
    out, _ = drawn(Rows(np.arange(float(n)), replace=True), n, generator())
    missed = 1.0 - len(torch.unique(out)) / n
    assert missed == pytest.approx(np.exp(-1.0), abs=5.0 * np.sqrt((np.exp(-1) - 2.0 * np.exp(-2)) / n))


def test_weights_travel_with_their_rows():
    weight = np.linspace(0.0, 3.0, 12)
    out, drawn_weight = drawn(Rows(TABLE, weight), 30, generator())
    np.testing.assert_array_equal(drawn_weight, weight[(out[:, 0] / 2.0).long()])
    assert drawn(Rows(TABLE), 30, generator())[1] is None


@pytest.mark.parametrize("replace", [False, True])
def test_a_seed_repeats_the_order_and_another_changes_it(replace):
    first, again, other = (drawn(Rows(TABLE, replace=replace), 9, generator(seed))[0] for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_fresh_generator_starts_a_fresh_order():
    """Otherwise a second push over the same pair and seed would go on where the first stopped."""
    source = Rows(TABLE)
    first, again = (drawn(source, 7, generator(3))[0] for _ in range(2))
    assert torch.equal(first, again)


@pytest.mark.parametrize("stored", [torch.float32, torch.float64])
@pytest.mark.parametrize("wanted", [torch.float32, torch.float64])
def test_rows_arrive_in_the_buffers_precision(stored, wanted):
    source = Rows(torch.from_numpy(TABLE).to(stored), np.ones(12))
    out, weight = drawn(source, 12, generator(), wanted)
    assert out.dtype == weight.dtype == wanted
    assert sorted(out[:, 1].tolist()) == TABLE[:, 1].tolist()


def test_a_read_only_memory_map_is_read(tmp_path):
    np.save(tmp_path / "rows.npy", TABLE)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    out, _ = drawn(Rows(mapped, mapped[:, 0]), 12, generator())
    assert sorted(out[:, 0].tolist()) == TABLE[:, 0].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.float16, ">f8", np.longdouble])
@pytest.mark.parametrize("wanted", [torch.float32, torch.float64])
def test_a_memory_map_of_any_type_gives_its_rows(dtype, wanted, tmp_path):
    """The same rows in the same order as the table in memory, in the mode that refuses writing and in the other."""
    np.save(tmp_path / "rows.npy", TABLE.astype(dtype))
    expected, _ = drawn(Rows(TABLE), 30, generator(), wanted)
    for mode in ("r", "r+", "c"):
        source = Rows(np.load(tmp_path / "rows.npy", mmap_mode=mode))
        assert torch.equal(drawn(source, 30, generator(), wanted)[0], expected)
        assert (len(source), source.features) == (12, 2)


def test_a_memory_map_is_not_copied(tmp_path):
    """64 MB on disk; what Python allocates for drawing from it stays below one."""
    n = 400_000
    table = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float64, (n, 20))
    table[:] = np.arange(float(n))[:, None]
    table.flush()
    del table
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    tracemalloc.start()
    source = Rows(mapped, replace=True)
    for seed in range(20):
        out, _ = drawn(source, 1000, generator(seed), torch.float32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert bool((out == out[:, :1]).all())
    assert peak < 16e6  # checking looks at 65,536 rows together
    assert not any(isinstance(value, torch.Tensor) and value.numel() > 10**6 for value in vars(source.table).values())


def test_what_a_memory_map_must_not_hold_is_said(tmp_path):
    for name, rows, words in (
        ("nan", np.where(TABLE > 20, np.nan, TABLE), "2 of 12 rows have NaN or infinity"),
        ("cube", np.zeros((2, 2, 2)), "shape"),
        ("complex", TABLE.astype(complex), "real numbers"),
        ("text", TABLE.astype("U3"), "must hold numbers"),
    ):
        np.save(tmp_path / f"{name}.npy", rows)
        with pytest.raises((TypeError, ValueError), match=words):
            Rows(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))


def test_a_table_in_memory_is_converted_once():
    source = Rows(TABLE)
    drawn(source, 5, generator(), torch.float32)
    converted = source.table._converted
    drawn(source, 5, generator(), torch.float32)
    assert source.table._converted is converted
    assert converted.dtype == torch.float32
    assert source.rows.dtype == torch.float64


@pytest.mark.parametrize(
    "rows",
    [
        TABLE[::-1],
        TABLE[:, ::-1],
        np.asfortranarray(TABLE),
        TABLE.astype(">f8"),
        TABLE.astype(np.longdouble),
        TABLE.astype(np.int16),
        TABLE.astype(np.float16),
        TABLE.tolist(),
        torch.from_numpy(TABLE).requires_grad_(),
    ],
    ids=["reversed", "columns reversed", "column-major", "big-endian", "long", "integers", "half", "list", "gradient"],
)
def test_any_numeric_array_is_a_table(rows):
    source = Rows(rows)
    assert source.features == 2
    assert len(source) == 12
    assert source.rows.is_floating_point()
    assert not source.rows.requires_grad
    assert sorted(source.rows.flatten().tolist()) == TABLE.ravel().tolist()


def test_one_column_may_come_without_its_axis():
    assert Rows([1.0, 2.0, 3.0]).features == 1
    assert Rows(torch.tensor([[True], [False]])).rows.dtype == torch.float32


def test_the_source_does_not_write_to_the_callers_rows():
    mine = TABLE.copy()
    drawn(Rows(mine), 40, generator())
    np.testing.assert_array_equal(mine, TABLE)


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (np.empty((0, 2)), ValueError, "shape"),
        (np.empty((2, 0)), ValueError, "shape"),
        (np.zeros((2, 2, 2)), ValueError, r"\(n, d\)"),
        ([[1.0, np.nan], [np.inf, 0.0], [1.0, 2.0]], ValueError, "2 of 3 rows"),
        ([["a"], ["b"]], TypeError, "must hold numbers"),
        (TABLE.astype(object), TypeError, "must hold numbers"),
        (TABLE.astype(complex), TypeError, "real numbers"),
        (torch.tensor([[1.0 + 1.0j]]), TypeError, "real numbers"),
    ],
    ids=["no rows", "no columns", "cube", "not finite", "text", "objects", "complex array", "complex tensor"],
)
def test_what_is_no_table_is_refused(rows, error, words):
    with pytest.raises(error, match=words):
        Rows(rows)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.ones(11), r"\(12,\), got \(11,\)"),
        (np.ones((12, 1)), r"\(12, 1\)"),
        (np.full(12, -1.0), "non-negative"),
        (np.zeros(12), "not all zero"),
        (np.full(12, np.nan), "finite"),
        (np.full(12, np.inf), "finite"),
        (["a"] * 12, "could not convert"),
    ],
    ids=["too few", "column", "negative", "zero", "NaN", "infinite", "text"],
)
def test_what_is_no_weight_is_refused(weight, words):
    with pytest.raises(ValueError, match=words):
        Rows(TABLE, weight)


def test_weights_may_come_in_any_clothes():
    import pandas as pd

    frozen = np.arange(12.0)
    frozen.flags.writeable = False
    series = pd.Series(frozen, index=range(100, 112))
    for weight in (frozen, series, list(range(12)), torch.arange(12), np.arange(24)[::2] / 2):
        assert Rows(TABLE, weight).weight.tolist() == list(range(12))
