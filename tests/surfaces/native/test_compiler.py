"""The kernel is compiled for every processor from one source, once, and refused with a reason where it cannot be."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from equipoise.surfaces.native import compiler, kernel
from equipoise.surfaces.native.compiler import TARGETS, NoKernelError

X86 = ("AVX512", "AVX2", "DEFAULT")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def short_source(tmp_path, monkeypatch):
    """Something that compiles at once."""
    source = tmp_path / "short.c"
    source.write_text("int answer(void) { return 42; }", encoding="utf-8")
    monkeypatch.setattr(compiler, "SOURCE", source)
    return source


def runs_here(name: str) -> bool:
    order = ["DEFAULT", "AVX2", "AVX512"]
    mine = torch.backends.cpu.get_cpu_capability()
    return mine in order and name in order[: order.index(mine) + 1]


@pytest.mark.parametrize("name", X86)
def test_every_target_computes_the_same(name, cache):
    if not runs_here(name):
        pytest.skip(f"this processor has no {name}")
    kernel.verify(kernel.Kernel(compiler.compiled(TARGETS[name]), name))


def test_compiling_twice_compiles_once(cache, short_source):
    first = compiler.compiled()
    changed = first.stat().st_mtime_ns
    assert compiler.compiled() == first
    assert first.stat().st_mtime_ns == changed
    assert [path.name for path in cache.iterdir()] == [first.name]
    assert cache.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_processes_that_start_together_all_get_a_whole_library(cache):
    code = "from equipoise.surfaces.native import library, unavailable; assert library(), unavailable()"

    def start(_: int) -> int:
        return subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start, range(4))) == [0] * 4
    assert len(list(cache.iterdir())) == 1


def test_another_source_is_another_library(cache, short_source):
    first = compiler.compiled()
    short_source.write_text("int answer(void) { return 43; }", encoding="utf-8")
    assert compiler.compiled() != first


def test_no_compiler_is_a_reason(cache, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(NoKernelError, match="no C compiler"):
        compiler.compiled()


def test_a_compiler_that_fails_is_a_reason(cache, tmp_path, monkeypatch):
    broken = tmp_path / "broken.c"
    broken.write_text("this is not C", encoding="utf-8")
    monkeypatch.setattr(compiler, "SOURCE", broken)
    with pytest.raises(NoKernelError, match="failed: "):
        compiler.compiled()
    assert list(cache.iterdir()) == []


def test_a_folder_that_others_write_to_is_refused(cache):
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.raises(NoKernelError, match="not yours alone"):
        compiler.compiled()


def test_a_file_that_is_no_library_is_a_reason(tmp_path):
    path = tmp_path / "kernel.so"
    path.write_bytes(b"no library")
    with pytest.raises(NoKernelError, match="does not load"):
        kernel.Kernel(path, "nothing")


def test_wrong_numbers_are_found_out(cache, tmp_path, monkeypatch):
    source = compiler.SOURCE.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.c"
    wrong.write_text(source.replace("choose(z > 0.0f, z, z * slope)", "z"), encoding="utf-8")
    assert wrong.read_text(encoding="utf-8") != source
    monkeypatch.setattr(compiler, "SOURCE", wrong)
    with pytest.raises(NoKernelError, match="wrong numbers"):
        kernel.verify(kernel.Kernel(compiler.compiled(), "wrong"))


def test_it_is_verified_whatever_mode_the_first_caller_is_in(cache):
    path = compiler.compiled()
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            kernel.verify(kernel.Kernel(path, "again"))


def in_a_new_process(**environment: str) -> str:
    code = "from equipoise.surfaces import backend; print(backend())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_it_can_be_switched_off():
    assert in_a_new_process(EQUIPOISE_NATIVE="off") == "torch: switched off by EQUIPOISE_NATIVE"


def test_without_a_compiler_torch_serves(tmp_path):
    assert in_a_new_process(PATH="", CC="", EQUIPOISE_CACHE=str(tmp_path)).startswith("torch: no C compiler")


@pytest.mark.slow
def test_no_read_or_write_out_of_bounds(tmp_path):
    """Odd shapes under the address and undefined-behaviour sanitizers, every buffer exactly as large as asked for."""
    driver = Path(__file__).with_name("sanitize.c")
    for name in X86:
        if not runs_here(name):
            continue
        target, program = TARGETS[name], tmp_path / f"sanitize-{name}"
        flags = ["-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        subprocess.run(
            [
                *(compiler.find_compiler(), *flags, *target.flags, f"-DLANES={target.lanes}"),
                *(f'-DKERNEL="{compiler.SOURCE}"', str(driver), "-o", str(program), "-lm"),
            ],
            check=True,
        )
        done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "shapes passed" in done.stdout
