"""Recording looks at more than the signals.

The guarantee holds as long as decisions about models rest on the signals. So every look at more is
recorded before anything is shown, and the status says that there was one.
"""

from __future__ import annotations

from collections.abc import Callable

from easeci.ledger.events import Looked
from easeci.service.project import Project


def record_look(project: Project, view: str, waiting: Callable[[], None] | None = None) -> None:
    """Record a look at a view, as soon as no other command acts on the project.

    ``waiting`` is called once if another command acts on the project now.
    """
    with project.exclusive(waiting):
        append_looks(project, view)


def append_looks(project: Project, *views: str) -> None:
    """Like :func:`record_look`, for a caller that acts alone on the project already."""
    project.append(*(Looked(view) for view in views))
