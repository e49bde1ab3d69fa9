"""Reading and checking examples, labels and predictions, from files or from arrays (polars)."""

from easeci.tables.align import Testset, align
from easeci.tables.column import Column, Role
from easeci.tables.examples import Examples, load_examples
from easeci.tables.source import Source, load_column

__all__ = [
    "Column",
    "Examples",
    "Role",
    "Source",
    "Testset",
    "align",
    "load_column",
    "load_examples",
]
