"""The evidence on one clause of one commit: wealth against its bar, label by label."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from easeci.verdict.curves import ClauseCurves

EVIDENCE_WIDTH = 640


def evidence_chart(curves: ClauseCurves, width: int = EVIDENCE_WIDTH) -> str:
    """Proof and futility over the labels, each against what it must reach, by factors of ten."""
    raise NotImplementedError
