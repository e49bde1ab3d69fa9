"""Reading and checking labels and predictions, from files or from arrays (polars)."""

from easeci.tables.align import Testset, align
from easeci.tables.column import Column, Role
from easeci.tables.source import Source, load_column

__all__ = ["Column", "Role", "Source", "Testset", "align", "load_column"]
