"""Reading and checking examples, labels and predictions, from files or from memory (polars)."""
