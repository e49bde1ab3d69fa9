"""What an endpoint is asked, and how it answers: one request of one visitor."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from easeci.errors import BusyError, EaseciError, MissingError, UsageError
from easeci.service.access.tokens import Role, Visitor
from easeci.web.flash import FlashMessage
from easeci.web.rendering import rendered
from easeci.web.site import Site

SMALL = 256 * 1024
"""The largest body of a request that brings no file, in bytes."""
LONGEST_NAME = 60
"""Of a file, in characters: most disks take 255 bytes, and a character has up to four."""


@dataclass(frozen=True)
class RequestContext:
    """A request that has passed the guards: whoever asks may ask this."""

    site: Site
    request: Request
    visitor: Visitor | None
    form: FormData = field(default_factory=FormData)

    @property
    def who(self) -> Visitor:
        """Whoever is signed in; only where a route demands that somebody is."""
        assert self.visitor is not None
        return self.visitor

    @property
    def owner(self) -> bool:
        return self.visitor is not None and self.visitor.role is Role.OWNER

    def text(self, name: str) -> str:
        """A field of the form; empty if it is not there."""
        value = self.form.get(name, "")
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """A number in the path."""
        return int(self.request.path_params[name])

    @contextmanager
    def upload(self, name: str) -> Iterator[Path | None]:
        """A file of the form, in a private folder and under the end of its own name.

        None if none was chosen. Its name is the browser's: nothing but its end is used of it.
        """
        sent = self.form.get(name)
        if not isinstance(sent, UploadFile) or not sent.filename:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="easeci-upload-") as folder:
            path = Path(folder) / _file_name(sent.filename)
            with path.open("wb") as file:
                shutil.copyfileobj(sent.file, file)
            yield path

    def done(self, path: str, message: FlashMessage) -> Response:
        """On to a page that says what became of a form: to load that again repeats nothing."""
        self.site.flash.add(self.who.session, path, message)
        return see_other(path)

    @property
    def notes(self) -> list[FlashMessage]:
        """What this page has to say of forms that were sent before; once."""
        if self.request.method != "GET":  # whoever checks a link reads nothing
            return []
        return self.site.flash.take(self.who.session, self.request.url.path)

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """A page of the site, for whoever asks."""
        return HTMLResponse(
            rendered(
                template,
                project=self.site.name,
                visitor=self.visitor,
                path=self.request.url.path,
                **values,
            ),
            status_code=status,
        )


Endpoint = Callable[[RequestContext], Response]


def see_other(path: str) -> Response:
    """To a page of ours, after something was done."""
    return RedirectResponse(path, status_code=303)


class OtherVisitorError(UsageError):
    """A page is open from before somebody else signed in with this browser."""


def refusal_status(error: EaseciError) -> int:
    """Whether the same may be sent again later (503), as our scripts do, or is wrong in itself."""
    if isinstance(error, BusyError):
        return 503
    if isinstance(error, OtherVisitorError):
        return 401
    return 404 if isinstance(error, MissingError) else 400


def _file_name(name: str) -> str:
    """A harmless name, short enough for any disk; readers tell formats by its end."""
    plain = PurePosixPath(name.replace("\\", "/")).name
    kept = "".join(c if c.isalnum() or c in "._- " else "-" for c in plain)[-LONGEST_NAME:]
    if not kept.strip(".- "):
        raise UsageError("the file has no name", hint="Choose a CSV, JSONL or Parquet file.")
    return f"file{kept}" if kept[0] in ".-" else kept
