"""Pushes: git hooks, and the way from developers' accounts to the owner's."""
