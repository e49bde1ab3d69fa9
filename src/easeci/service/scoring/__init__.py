"""Scores are computed: by a built-in rule, or by the owner's program in a sandbox."""
