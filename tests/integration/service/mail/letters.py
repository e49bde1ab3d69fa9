"""The letters that were sent."""

from __future__ import annotations

import mailbox

from tests.repositories import Workplace


def letters(place: Workplace) -> list[mailbox.mboxMessage]:
    """All of them, in the order in which they were sent."""
    path = place.folder / "letters"
    if not path.exists():
        return []
    box = mailbox.mbox(path, create=False)
    try:
        return list(box)
    finally:
        box.close()
