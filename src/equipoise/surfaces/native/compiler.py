"""The kernel's source becomes a library, once for each machine, source and compiler.

    cc -O2 -D LANES=16 -mavx512f … block_diagonal.c   →   ~/.cache/equipoise/kernel-<digest>.so

The library appears whole or not at all, so that processes which start at the same moment do not meet half of one. It is
linked against no OpenMP: it finds the one that torch has loaded, and with it torch's waiting threads.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

SOURCE = Path(__file__).with_name("block_diagonal.c")
_FLAGS = ["-std=gnu11", "-O2", "-fPIC", "-fno-math-errno", "-ffp-contract=fast"]
_LINK = ["-shared", *(["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else [])]


class NoKernelError(RuntimeError):
    """There is no kernel on this machine; the message says why."""


@dataclass(frozen=True)
class Target:
    """A kind of processor.

    Arguments:
        name: What it is called.
        lanes: Floats in a vector register.
        flags: What the compiler has to be told.
    """

    name: str
    lanes: int
    flags: tuple[str, ...] = ()


_AVX512 = ("-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mavx2", "-mfma", "-mprefer-vector-width=512")
TARGETS = {
    "AVX512": Target("AVX-512", 16, _AVX512),
    "AVX2": Target("AVX2", 8, ("-mavx2", "-mfma")),
    "NEON": Target("NEON", 4),
    "DEFAULT": Target("128-bit vectors", 4),
}


def this_machine() -> Target:
    """What this processor can do, as far as torch uses it."""
    if platform.machine().lower() in ("aarch64", "arm64"):
        return TARGETS["NEON"]
    return TARGETS.get(torch.backends.cpu.get_cpu_capability(), TARGETS["DEFAULT"])


def find_compiler() -> str:
    """The C compiler: $CC, or the first of cc, gcc and clang on the path."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and (path := shutil.which(name)):
            return path
    message = "no C compiler: neither $CC nor cc, gcc or clang on the PATH is one"
    raise NoKernelError(message)


def compiled(target: Target | None = None) -> Path:
    """The library for a target, out of the cache or newly compiled into it."""
    target = target or this_machine()
    compiler = find_compiler()
    version = _run([compiler, "--version"])
    flags = [*_FLAGS, *target.flags, f"-DLANES={target.lanes}"]
    key = "\n".join([SOURCE.read_text(encoding="utf-8"), version, platform.machine(), *flags])
    library = cache() / f"kernel-{hashlib.sha256(key.encode()).hexdigest()[:20]}.so"
    if not library.exists():
        _compile(compiler, flags, library)
    return library


def _compile(compiler: str, flags: list[str], library: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".kernel-") as folder:
        part, whole = Path(folder) / "kernel.o", Path(folder) / "kernel.so"
        _run([compiler, *flags, "-c", str(SOURCE), "-o", str(part)])
        _run([compiler, *_LINK, str(part), "-o", str(whole)])
        whole.replace(library)


def cache() -> Path:
    """A folder that only this user can write to: code is loaded from it."""
    given, home = os.environ.get("EQUIPOISE_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(given) if given else (Path(home) if home else Path.home() / ".cache") / "equipoise"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.stat()
    except (OSError, RuntimeError) as error:
        message = f"no place to keep the kernel ({error}): set EQUIPOISE_CACHE to a folder of your own"
        raise NoKernelError(message) from None
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or not os.access(folder, os.W_OK):
        message = f"{folder} is not yours alone to write to: set EQUIPOISE_CACHE to a folder that is"
        raise NoKernelError(message)
    return folder


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)  # noqa: S603
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["no message"]
        message = f"{command[0]} failed: {lines[0]}"
        raise NoKernelError(message) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"{command[0]} failed: {error}"
        raise NoKernelError(message) from None
    return done.stdout
