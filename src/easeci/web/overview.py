"""The pages of a project and of one commit.

A developer's pages are made of what :mod:`easeci.ledger.disclosure` gives and of the script, which
developers have anyway. The owner's pages show more, and each look at them is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from starlette.responses import Response

from easeci.ledger.disclosure import disclosed_rows
from easeci.ledger.signals import Signal
from easeci.ledger.state import Testset
from easeci.service.access.tokens import Role
from easeci.service.labelling.files import wanted_labels
from easeci.service.project import Project
from easeci.views import history
from easeci.views.alarms import Alarm, AlarmKind
from easeci.views.commit import commit_curves, commit_view, curves_key
from easeci.views.figures import Figure, clause_figures, history_figures, score_figures
from easeci.views.history import DecidedStep, decided_steps, owner_rows
from easeci.views.status import count_scores_wanted, promise, status
from easeci.web.request import RequestContext, see_other
from easeci.web.site import Site

if TYPE_CHECKING:
    from easeci.views.scores import CommitScores

RECENT = 50
Row = TypeVar("Row")


def overview(context: RequestContext) -> Response:
    """The first page: the overview for the owner, the signals for developers."""
    if context.who.role is Role.LABELLER:
        return see_other("/label")
    return _owners(context) if context.owner else _developers(context)


def _developers(context: RequestContext) -> Response:
    with context.site.reading() as project:
        testset = project.state.latest_testset
        rows = disclosed_rows(project.state)[::-1]
        standing = status(project)
    return context.page(
        "signals.html",
        standing=standing,
        promise=() if testset is None else promise(testset.script),
        rows=_recent(context, rows),
        rows_in_all=len(rows),
    )


def _owners(context: RequestContext) -> Response:
    with context.site.reading() as project:
        state = project.state
        testset = state.latest_testset
        context.site.background.look(context.who, "overview", _number(testset))
        if testset is None:
            return context.page("begin.html", notices=_notices(context.site, ()))
        wanted = _wanted(context.site, project, testset)
        scores = _scores_wanted(context.site, project, testset)
        standing = status(project, owner=True, labels_wanted=wanted, scores_wanted=scores)
        rows = owner_rows(state)[::-1]
        steps = decided_steps(state, testset)
    return context.page(
        "overview.html",
        standing=standing,
        testset=testset,
        promise=promise(testset.script),
        notices=_notices(context.site, standing.alarms),
        given=context.site.label_session.unrecorded,
        figures=_history(context.site, testset, steps),
        waiting=any(row.shown.signal is Signal.PENDING for row in rows),
        rows=_recent(context, rows),
        rows_in_all=len(rows),
    )


def _recent(context: RequestContext, rows: Sequence[Row]) -> Sequence[Row]:
    return rows if "all" in context.request.query_params else rows[:RECENT]


def commit(context: RequestContext) -> Response:
    """The page of one commit."""
    number = context.number("number")
    with context.site.reading() as project:
        view = commit_view(project, number, owner=context.owner)
        if view.owner is None:
            return context.page("commit.html", shown=view.shown, found=None)
        context.site.background.look(context.who, "commit", view.shown.testset)
        key, cache = curves_key(project, number), context.site.cache
        curves = cache.get(("curves", *key), lambda: commit_curves(project, number))
        scores = cache.get(("scores", *key), lambda: _scores(project, number))
    figures = cache.get(("evidence", *key), lambda: [f for c in curves for f in clause_figures(c)])
    histograms = cache.get(
        ("histograms", *key), lambda: [] if scores is None else score_figures(scores)
    )
    return context.page(
        "commit.html",
        shown=view.shown,
        found=view.owner,
        figures=figures,
        histograms=histograms,
        groups=() if scores is None else scores.groups,
    )


def _scores(project: Project, number: int) -> CommitScores | None:
    from easeci.views.scores import commit_scores  # loads tables, which other pages need not

    return commit_scores(project, number)


def build_log(context: RequestContext) -> Response:
    """What a build printed, for the owner."""
    number = context.number("number")
    with context.site.reading() as project:
        text = history.build_log(project, number)  # or an error, before a look is recorded
        context.site.background.look(context.who, "build", None)
    return context.page("log.html", number=number, text=text)


@dataclass(frozen=True)
class Notice:
    """An alarm as a page shows it, with a link to the page that helps."""

    message: str
    hint: str = ""
    link: str = ""
    link_words: str = ""


HELPFUL_PAGES = {
    AlarmKind.NEW_TESTSET: ("/testsets", "Add the next testset"),
    AlarmKind.UNDECIDED: ("/plan", "To the plan"),
}


def _notices(site: Site, found: Sequence[Alarm]) -> list[Notice]:
    """Alarms about the project, and one if the server could not record something."""
    notices = [Notice(a.message, a.hint, *HELPFUL_PAGES.get(a.kind, ())) for a in found]
    problem = site.background.problem
    if problem is not None:
        notices.append(Notice(f"The server could not record: {problem}."))
    return notices


def _number(testset: Testset | None) -> int | None:
    return None if testset is None else testset.number


def _wanted(site: Site, project: Project, testset: Testset) -> int:
    """How many labels are wanted now; an open label session knows best."""
    asked_for = site.label_session.wanted
    if asked_for is not None:
        return asked_for
    files = (len(testset.label_files), len(testset.score_files))
    key = ("wanted", testset.number, testset.steps_used, files, testset.retired)
    return site.cache.get(key, lambda: len(wanted_labels(project, testset)))


def _history(site: Site, testset: Testset, steps: Sequence[DecidedStep]) -> tuple[Figure, ...]:
    """The charts of the testset's steps, drawn once for every reader."""
    key = ("history", testset.number, len(steps), tuple(step.became_baseline for step in steps))
    return site.cache.get(key, lambda: history_figures(testset.script, steps))


def _scores_wanted(site: Site, project: Project, testset: Testset) -> int:
    """How many outputs wait to be scored outside."""
    files = (len(testset.label_files), len(testset.score_files))
    key = ("scores wanted", testset.number, testset.steps_used, files, testset.retired)
    return site.cache.get(key, lambda: count_scores_wanted(project, testset))
