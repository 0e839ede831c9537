"""The runner of benchmark cells: it resumes, survives what hangs or fails, and reads what a kill left behind."""

import json

import pytest


@pytest.fixture
def cells(monkeypatch):
    monkeypatch.syspath_prepend("benchmarks")
    import _cells

    return _cells


SCRIPT = """
import json, sys, time
cell = json.loads(sys.argv[2])
open(cell["trace"], "a").write(str(cell["number"]))
if cell["number"] == 1:
    time.sleep(60)
if cell["number"] == 2:
    raise ValueError("two is too many")
print("on the way")
print(json.dumps({"square": cell["number"] ** 2}))
"""


@pytest.fixture
def benchmark(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    grid = [{"number": k, "trace": str(tmp_path / "trace"), "limit": 1.5 if k == 1 else 30} for k in range(4)]
    return tmp_path / "script.py", grid, tmp_path / "results" / "lines.jsonl"


def test_every_cell_leaves_a_line_whatever_becomes_of_it(cells, benchmark):
    script, grid, path = benchmark
    cells.run(script, grid, path)
    lines = [cells.read(path)[cells.key_of(cell)] for cell in grid]
    assert [line["status"] for line in lines] == ["ok", "timeout", "error", "ok"]
    assert lines[3]["result"] == {"square": 9}
    assert "two is too many" in lines[2]["error"]
    assert lines[1]["seconds"] < 30


def test_what_is_done_is_not_done_again_unless_asked(cells, benchmark):
    script, grid, path = benchmark
    some = [grid[0], grid[3]]
    cells.run(script, some[:1], path)
    cells.run(script, some, path)
    trace = path.parent.parent / "trace"
    assert sorted(trace.read_text()) == ["0", "3"]
    cells.run(script, some, path, again='"number": 3')
    assert sorted(trace.read_text()) == ["0", "3", "3"]
    assert len(path.read_text().splitlines()) == 3
    assert len(cells.read(path)) == 2


def test_a_line_cut_off_by_a_kill_costs_only_itself(cells, tmp_path):
    path = tmp_path / "lines.jsonl"
    first, second = ({"cell": {"number": k}, "status": "ok"} for k in (1, 2))
    cells.append(path, first)
    with path.open("a") as file:
        file.write('{"cell": {"num')
    cells.append(path, second)
    assert list(cells.read(path).values()) == [first, second]


def test_a_key_names_the_work_and_not_how_long_it_may_take(cells):
    assert cells.key_of({"b": 1, "a": 2, "limit": 5, "threads": 2}) == json.dumps({"a": 2, "b": 1})


def test_cells_of_several_threads_run_alone(cells, monkeypatch):
    monkeypatch.setattr(cells, "CORES", 2)

    class Running:
        threads = 1

    assert cells._has_room({"threads": 2}, [])
    assert cells._has_room({}, [Running()])
    assert not cells._has_room({"threads": 2}, [Running()])
    assert not cells._has_room({}, [Running(), Running()])
