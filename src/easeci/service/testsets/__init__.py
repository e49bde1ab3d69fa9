"""Testsets: added, retired, released."""
