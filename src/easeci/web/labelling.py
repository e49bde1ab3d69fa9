"""Labelling in the browser: one example at a time, and the next ones loaded ahead.

Each tab holds leases of its own. Labellers are blind: the page gets examples, the names of classes,
and how many labels are still to come by the plan.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from starlette.responses import FileResponse, JSONResponse, Response

from easeci.errors import UsageError
from easeci.evidence.cells import LabelState
from easeci.service.labelling.questions import Given, OpenQuestions, Question, roughly
from easeci.service.labelling.session import LEASE_SECONDS
from easeci.web.request import OtherVisitorError, RequestContext

HELD = 3
"""How many examples a tab holds: the one that it shows, and those that it has loaded ahead."""
LONGEST_TEXT = 20_000
IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".svg": "image/svg+xml",
}
SOUNDS = {
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
}
TEXTS = dict.fromkeys((".txt", ".md", ".csv", ".json", ".log"), "text/plain; charset=utf-8")
FILE_POLICY = "default-src 'none'; sandbox"
"""For files of examples: browsers show them, and never run what is in them."""


def show(context: RequestContext) -> Response:
    """The labelling page; its script asks for the examples."""
    with context.site.reading() as project:
        ready = project.state.latest_testset is not None
    return context.page("label.html" if ready else "label-nothing.html")


def take(context: RequestContext) -> Response:
    """The examples that the tab holds; this renews its leases."""
    with context.site.labelling() as questions:
        return _document(context, questions)


def answer(context: RequestContext) -> Response:
    """Store an answer, and go on to the next example."""
    with context.site.labelling() as questions:
        label = context.text("label") if context.text("state") == LabelState.LABEL else None
        given = questions.answer(
            _holder(context),
            context.who.name,
            context.text("ticket"),
            _state(context.text("state")),
            label,
        )
        return _document(context, questions, given=given)


def undo(context: RequestContext) -> Response:
    """Take back an answer that is not recorded yet."""
    with context.site.labelling() as questions:
        taken_back = questions.undo(_holder(context), context.who.name, context.text("undone"))
        return _document(context, questions, undone=taken_back is not None)


def leave(context: RequestContext) -> Response:
    """Give back the examples of a tab that is closed."""
    context.site.label_session.leave(_holder(context), _message(context))
    return JSONResponse({})


def file(context: RequestContext) -> Response:
    """A file that an example of this tab names, such as an image or a sound."""
    query = context.request.query_params
    path = context.site.label_session.file(
        _holder_of(context, query.get("tab", "")),
        context.request.path_params["ticket"],
        query.get("column", ""),
    )
    if path is None:
        raise UsageError("there is no such file", hint="Its example is no longer on this page.")
    kind = (IMAGES | SOUNDS | TEXTS).get(path.suffix.lower())
    headers = {"Content-Security-Policy": FILE_POLICY}
    if kind is None:
        headers["Content-Disposition"] = "attachment"
    return FileResponse(path, media_type=kind or "application/octet-stream", headers=headers)


def _document(
    context: RequestContext,
    questions: OpenQuestions,
    *,
    given: Given | None = None,
    undone: bool | None = None,
) -> Response:
    """Everything that the page shows: its examples, the classes, and what comes next."""
    again = context.text("unsettled") == "yes"
    by = context.who.name
    held = questions.take(_holder(context), by, HELD, unsettled=again, message=_message(context))
    return JSONResponse(
        {
            "given": given,
            "undone": undone,
            "questions": [_question(question) for question in held],
            "classes": questions.classes,
            "declared": questions.declared,
            "references": questions.references,
            "more": roughly(questions.more_unsettled(by) if again else questions.more),
            "recording": questions.awaiting_flush,
            "undoable": questions.undoable(by),
            "unsettled": questions.more_unsettled(by) > 0,
            "lease": LEASE_SECONDS,
        }
    )


def _question(question: Question) -> dict[str, Any]:
    fields = [
        _field(name, value, is_file=name in question.files) for name, value in question.row.items()
    ]
    return {"ticket": question.ticket, "fields": fields}


def _field(name: str, value: Any, *, is_file: bool) -> dict[str, Any]:
    """One column, and how to show it. Without the name of a file: it could tell the label."""
    if is_file:
        return {"name": name, "kind": _kind(value)}
    text = "" if value is None else str(value)
    cut = max(len(text) - LONGEST_TEXT, 0)
    kind = "number" if isinstance(value, int | float) and not isinstance(value, bool) else "text"
    return {"name": name, "kind": kind, "text": text[:LONGEST_TEXT], "cut": cut}


def _kind(value: str) -> str:
    ending = PurePosixPath(value).suffix.lower()
    if ending in IMAGES:
        return "image"
    if ending in SOUNDS:
        return "sound"
    return "file"


def _holder(context: RequestContext) -> str:
    if context.text("by") != context.who.name:
        # The answers that the page has not sent yet are somebody else's.
        raise OtherVisitorError("you have signed in as somebody else", hint="Load the page again.")
    return _holder_of(context, context.text("tab"))


def _holder_of(context: RequestContext, tab: str) -> str:
    """The name under which a labeller's tab holds leases, also after signing in again."""
    if not 8 <= len(tab) <= 64 or not tab.isalnum():
        raise UsageError("the page has no valid tab name", hint="Load it again.")
    return f"{context.who.name}:{tab}"


def _message(context: RequestContext) -> int:
    """The number of this message of the tab; the page counts."""
    text = context.text("message")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _state(text: str) -> LabelState:
    try:
        state = LabelState(text)
    except ValueError:
        state = None
    if state not in (LabelState.LABEL, LabelState.CANNOT_TELL, LabelState.SKIPPED):
        raise UsageError("this is not an answer")
    return state
