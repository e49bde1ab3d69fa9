"""A testset at rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import sealed


def test_a_testset_that_is_gone_says_what_to_do(tmp_path: Path) -> None:
    vault, _, _ = sealed(tmp_path)
    with pytest.raises(InfrastructureError, match="testset 2 is missing") as caught:
        SealedTestset(vault, 2)
    assert "backup" in str(caught.value)


def test_digests_are_not_shown_and_reach_every_part(tmp_path: Path) -> None:
    """With a wrong digest, no part of the testset can be read."""
    vault, sealed_as, _ = sealed(tmp_path)
    whole = SealedTestset(vault, 1, sealed_as.digests)
    assert len(whole.examples.ids) == len(whole.examples.order) == 5
    wrong = SealedTestset(vault, 1, dict.fromkeys(sealed_as.digests, "0" * 64))
    assert "0" * 64 not in repr(wrong)
    for read in (lambda: wrong.examples.ids, lambda: wrong.examples.order):
        with pytest.raises(InfrastructureError, match="changed or damaged"):
            read()
