"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# The same examples in every run: a test that fails must fail for whoever looks into it. And no
# deadlines: how long a step takes says more about the machine than about the code.
settings.register_profile("easeci", derandomize=True, deadline=None)
settings.load_profile("easeci")
