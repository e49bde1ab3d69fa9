"""Building a commit: a clean checkout, its program in a sandbox, the predictions that it writes."""
