"""Recording looks at more than the signals.

The guarantee holds as long as decisions about models rest on the signals. So every look at more is
recorded before anything is shown, and the status says that there was one.
"""

from __future__ import annotations

from collections.abc import Callable

from easeci.ledger.events import Looked
from easeci.service.project import Project


def record_look(
    project: Project, view: str, waiting: Callable[[], None] | None = None, *, by: str = ""
) -> None:
    """Record a look at a view, as soon as no other command acts on the project.

    ``waiting`` is called once if another command acts on the project now. ``by`` is who looks.
    """
    with project.exclusive(waiting):
        project.append(Looked(view, by))
