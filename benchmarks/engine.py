"""How fast the block-diagonal surface and the push are, as shares of the machine's matrix product in the same run.

Everything compared takes turns, each in a process that waits for its turn; a figure is the median over rounds. Writes
benchmarks/results/engine.md and engine.json. Meant for a quiet machine, where all of it takes about ten minutes. A run
that is killed goes on with the section that it was in.

Run: python benchmarks/engine.py                            all sections
     python benchmarks/engine.py speed push growth memory   some; the others keep the results they have
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import _engine_report as report

HERE = Path(__file__).parent
RESULTS = HERE / "results"
FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
KEEP_PAGES = "dirty_decay_ms:-1,muzzy_decay_ms:-1"
SHAPES = [(50, 16), (50, 64), (100, 32)]
ROWS, FEATURES, LAYERS = 2_000, 20, 6

SPEED_ROUNDS, PUSH_ROUNDS, GROWTH_ROUNDS = 11, 9, 7
LONG_RUN = 100_000  # steps over which memory is watched
BUSY = 0.5  # processes that ran beside, on average, above which a machine is not quiet

Case = dict[str, Any]


def jemalloc() -> str | None:
    """The other allocator, where there is one: libjemalloc2 of Debian."""
    found = (path for folder in FOLDERS for deep in ("", "*/") for path in Path(folder).glob(f"{deep}libjemalloc.so.2"))
    return next(map(str, found), None)


def sizes(blocks: int = 50, width: int = 64, layers: int = LAYERS, features: int = FEATURES, rows: int = ROWS) -> Case:
    return {"blocks": blocks, "width": width, "layers": layers, "features": features, "rows": rows}


class Worker:
    """A waiting process; see _engine_worker."""

    def __init__(self, **environment: str) -> None:
        command = [sys.executable, str(HERE / "_engine_worker.py")]
        clean = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "LD_PRELOAD")}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean | environment
        )

    def __call__(self, case: Case) -> Any:
        """Measure a case there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"a process ended with status {self._process.wait()} on {case}")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def in_turns(cases: Iterable[tuple[str, Worker, Case]], rounds: int) -> dict[str, float]:
    """Median seconds of each case, one sample of each in every round."""
    cases, found = list(cases), defaultdict(list)
    for _ in range(rounds):
        for name, worker, case in cases:
            found[name].append(worker(case)["seconds"])
    return {name: median(values) for name, values in found.items()}


def peaks(ours: Worker, threads: Iterable[int]) -> list[tuple[str, Worker, Case]]:
    return [(f"{kind} {t}", ours, {"kind": kind, "threads": t}) for t in threads for kind in ("numpy", "mm")]


def speed() -> dict[str, Any]:
    """Forward and backward, against the ways one would do without."""
    ours, plain, other = Worker(), Worker(), jemalloc()
    fixed = Worker(LD_PRELOAD=other, MALLOC_CONF=KEEP_PAGES) if other else None
    cases = peaks(ours, (1, 2))
    for threads in (1, 2):
        for blocks, width in SHAPES:
            for name, worker in (
                *((kind, ours) for kind in ("native", "torch", "fully connected")),
                *(("plain", plain), ("plain, jemalloc", fixed)),
            ):
                if worker is not None:
                    case = {"kind": name.split(",", maxsplit=1)[0], "threads": threads, **sizes(blocks, width)}
                    cases.append((f"{name} {threads} {blocks}×{width}", worker, case))
    found = in_turns(cases, SPEED_ROUNDS)
    for worker in (ours, plain, fixed):
        if worker is not None:
            worker.close()
    return found


def push() -> dict[str, Any]:
    """The whole step against forward and backward alone, what it is spent on, and what it asks of the system."""
    ours, cases = Worker(), []
    for blocks, width in SHAPES:
        steps = 100 if width == 16 else 50
        for kind in ("native", "push"):
            case = {"kind": kind, "threads": 2, "steps": steps, **sizes(blocks, width)}
            cases.append((f"{kind} {blocks}×{width}", ours, case))
    found: dict[str, Any] = {"seconds": in_turns(cases, PUSH_ROUNDS), "shares": {}, "steady": {}}
    for blocks, width in SHAPES:
        case = {"threads": 2, "steps": 50, **sizes(blocks, width)}
        found["shares"][f"{blocks}×{width}"] = ours({"kind": "shares", **case})
        with counting() as worker:
            found["steady"][f"{blocks}×{width}"] = worker({**case, "kind": "steady", "steps": 150})
    ours.close()
    return found


@contextmanager
def counting() -> Iterator[Worker]:
    """A process whose large allocations are counted, where there is a compiler to make the counter with."""
    compiler, source = shutil.which("cc") or shutil.which("gcc"), str(HERE / "_count_allocations.c")
    with tempfile.TemporaryDirectory() as folder:
        counter = str(Path(folder) / "count.so")
        command = [compiler or "", "-shared", "-fPIC", "-O2", source, "-o", counter]
        made = compiler is not None and subprocess.run(command, check=False).returncode == 0
        worker = Worker(LD_PRELOAD=counter) if made else Worker()
        yield worker
        worker.close()


def growth() -> dict[str, Any]:
    """One size at a time, the others at 2,000 rows of 20 columns, 50 channels of 32, 6 layers."""
    ours, cases = Worker(), peaks(worker := Worker(), (2,))
    grown = {
        "rows": (250, 500, 1_000, 2_000, 4_000, 8_000),
        "width": (8, 16, 24, 32, 48, 64, 128),
        "layers": (2, 3, 4, 6, 8, 10),
        "features": (2, 5, 20, 100, 500),
        "blocks": (2, 10, 50, 200),
    }
    for name, values in grown.items():
        for value in values:
            for kind in ("native", "torch"):
                case = {"kind": kind, "threads": 2, **sizes(width=32), name: value}
                cases.append((f"{kind} {name} {value}", ours, case))
    found = in_turns(cases, GROWTH_ROUNDS)
    ours.close()
    worker.close()
    return found


def memory() -> dict[str, Any]:
    """A large surface's peak against its workspace, and a long run of small steps."""
    found = {}
    for name, case in {
        "large": {**sizes(50, 64), "steps": 60},
        "long": {**sizes(8, 16, 4, rows=200), "steps": LONG_RUN},
    }.items():
        worker = Worker()
        found[name] = worker({"kind": "memory", "threads": 2, **case}) | {"case": case}
        worker.close()
    return found


SECTIONS: dict[str, Callable[[], dict[str, Any]]] = {"speed": speed, "push": push, "growth": growth, "memory": memory}


def main(names: list[str]) -> None:
    if unknown := set(names) - set(SECTIONS):
        sys.exit(f"unknown section {', '.join(unknown)}: there are {', '.join(SECTIONS)}")
    file, unfinished = RESULTS / "engine.json", RESULTS / ".engine.json"
    RESULTS.mkdir(exist_ok=True)
    machine = report.machine()
    if float(machine["load"]) > BUSY:
        print(f"  something else runs here (load {machine['load']}): these figures will not hold", flush=True)
    done = read(unfinished)
    if done.get("machine", machine) | {"load": machine["load"]} != machine:
        done = {}  # of another machine, or of other versions
    for name in names or SECTIONS:
        if name in done:
            print(f"  {name}: measured before the last run was killed", flush=True)
            continue
        print(f"  {name}", flush=True)
        done |= {"machine": machine, name: SECTIONS[name]()}
        write(unfinished, done)
    results = read(file) | done
    write(file, results)
    text = report.render(results)
    (RESULTS / "engine.md").write_text(text, encoding="utf-8")
    unfinished.unlink(missing_ok=True)
    print(text)


def read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write(file: Path, results: dict[str, Any]) -> None:
    """Whole or not at all."""
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(file)


if __name__ == "__main__":
    main(sys.argv[1:])
