"""Scores in files: exported to be scored elsewhere, and imported."""
