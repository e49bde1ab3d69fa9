"""Labels: given one by one, or read from files."""
