"""Cells of a benchmark: each a small document, run in a process of its own, its result one line of a file.

    run(script, cells, path)      skips the cells whose line is there, so that a killed benchmark resumes

A cell says how many threads it needs and how long it may take; one that hangs is ended and recorded as such. Cells of
one thread run side by side, others alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from ctypes.util import find_library
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

Cell = dict[str, Any]
Line = dict[str, Any]

CORES = os.cpu_count() or 1
ALLOCATOR = next((str(p) for p in Path("/usr/lib").glob("*/libjemalloc.so.2")), None) or find_library("jemalloc")


def key_of(cell: Cell) -> str:
    """A cell's name: its document in one order. How long it may take does not belong to it."""
    return json.dumps({k: v for k, v in cell.items() if k not in ("limit", "threads")}, sort_keys=True)


def read(path: Path) -> dict[str, Line]:
    """The latest line of every finished cell; a line cut off by a kill is passed over."""
    lines: dict[str, Line] = {}
    if path.exists():
        for text in path.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                continue
            lines[key_of(line["cell"])] = line
    return lines


def append(path: Path, line: Line) -> None:
    """Append a line in one write, on a line of its own whatever a kill left behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(0, os.SEEK_END)
        whole = True
        if file.tell():
            file.seek(-1, os.SEEK_END)
            whole = file.read(1) == b"\n"
        text = json.dumps(line, sort_keys=True, default=float)
        file.write((("" if whole else "\n") + text + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def run(script: Path, cells: Iterable[Cell], path: Path, again: str | None = None) -> None:
    """Run every cell that has no line yet, or whose key contains ``again``."""
    done = read(path)
    waiting = [cell for cell in cells if key_of(cell) not in done or (again is not None and again in key_of(cell))]
    total, running = len(waiting), []
    print(f"{len(done)} cells done before, {total} to run", flush=True)
    try:
        while waiting or running:
            while waiting and _has_room(waiting[0], running):
                running.append(Job(script, waiting.pop(0)))
            for job in [job for job in running if job.is_over()]:
                running.remove(job)
                line = job.line()
                append(path, line)
                count = f"{total - len(waiting) - len(running)}/{total}"
                print(f"[{count}] {line['status']:7s} {line['seconds']:7.1f} s  {key_of(job.cell)}", flush=True)
            sleep(0.05)
    finally:
        for job in running:
            job.process.kill()
            job.process.wait()


def _has_room(cell: Cell, running: list[Job]) -> bool:
    return not running or int(cell.get("threads", 1)) <= CORES - sum(job.threads for job in running)


class Job:
    """A cell in a process of its own."""

    def __init__(self, script: Path, cell: Cell) -> None:
        self.cell = cell
        self.threads = int(cell.get("threads", 1))
        self.output = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the job
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.start = perf_counter()
        self.timed_out = False
        command = [sys.executable, str(script), "--cell", json.dumps(cell)]
        self.process = subprocess.Popen(command, stdout=self.output, stderr=self.errors, env=environment(self.threads))

    def is_over(self) -> bool:
        if self.process.poll() is not None:
            return True
        if perf_counter() - self.start > self.cell.get("limit", 600):
            self.process.kill()
            self.process.wait()
            self.timed_out = True
        return self.timed_out

    def line(self) -> Line:
        """The finished cell's line."""
        seconds = round(perf_counter() - self.start, 2)
        said, complained = _content(self.output), _content(self.errors)
        line = {"cell": self.cell, "seconds": seconds, "allocator": "jemalloc" if ALLOCATOR else "system"}
        if self.timed_out:
            return {**line, "status": "timeout"}
        if self.process.returncode:
            return {**line, "status": "error", "error": complained[-2_000:]}
        return {**line, "status": "ok", "result": json.loads(said.splitlines()[-1])}


def _content(file: Any) -> str:
    """All that was written to a temporary file, which is gone afterwards."""
    with file:
        file.seek(0)
        return str(file.read().decode(errors="replace"))


def environment(threads: int) -> dict[str, str]:
    """The same threads and allocator for everyone."""
    env = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        env[name] = str(threads)
    if ALLOCATOR:
        env["LD_PRELOAD"] = ALLOCATOR
        env["MALLOC_CONF"] = "dirty_decay_ms:-1,muzzy_decay_ms:-1"
    return env
