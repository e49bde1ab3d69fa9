"""Reading and checking examples, labels and predictions, from files or from arrays (polars)."""

from easeci.tables.align import AlignedExamples, align
from easeci.tables.column import Column, ColumnRole
from easeci.tables.examples import Examples, load_examples
from easeci.tables.source import Source, load_column

__all__ = [
    "AlignedExamples",
    "Column",
    "ColumnRole",
    "Examples",
    "Source",
    "align",
    "load_column",
    "load_examples",
]
