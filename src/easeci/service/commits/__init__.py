"""A commit from its submission to its signal."""
