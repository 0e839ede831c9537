"""Tables and model files."""

from __future__ import annotations

from equipoise.io.model_file import load, save
from equipoise.io.tables import Table, read_table, to_table
from equipoise.io.writing import write_table

__all__ = ["Table", "load", "read_table", "save", "to_table", "write_table"]
