"""Keeping the store safe: whether everything in it is as it was recorded."""
