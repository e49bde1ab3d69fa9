"""One request of one visitor: what an endpoint reads, and the ways to answer."""

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
"""Of a file name, in characters: most disks take 255 bytes, and a character has up to four."""


@dataclass(frozen=True)
class RequestContext:
    """A request that has passed the guards, with its visitor and its form."""

    site: Site
    request: Request
    visitor: Visitor | None
    form: FormData = field(default_factory=FormData)

    @property
    def who(self) -> Visitor:
        """The visitor, on a route that requires one."""
        assert self.visitor is not None
        return self.visitor

    @property
    def owner(self) -> bool:
        """Whether the visitor is the owner."""
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
        """A file of the form, in a private folder that is deleted after the block.

        None if no file was chosen. Of the name that the browser sent, only the end is used.
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
        """Redirect to a page that says what became of a form; a reload does not send it again."""
        self.site.flash.add(self.who.session, path, message)
        return see_other(path)

    @property
    def notes(self) -> list[FlashMessage]:
        """The flash messages of this page; they are shown once."""
        if self.request.method != "GET":  # a program that checks links must not take them
            return []
        return self.site.flash.take(self.who.session, self.request.url.path)

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """A page of the site, made from a template."""
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
    """Redirect to one of our pages, after a form was processed."""
    return RedirectResponse(path, status_code=303)


class OtherVisitorError(UsageError):
    """The page was loaded for one person, and another one has signed in since."""


def refusal_status(error: EaseciError) -> int:
    """The HTTP status of an error. Our scripts send the same request again after 503."""
    if isinstance(error, BusyError):
        return 503
    if isinstance(error, OtherVisitorError):
        return 401
    return 404 if isinstance(error, MissingError) else 400


def _file_name(name: str) -> str:
    """A harmless name, short enough for any disk. Its suffix tells the format."""
    plain = PurePosixPath(name.replace("\\", "/")).name
    kept = "".join(c if c.isalnum() or c in "._- " else "-" for c in plain)[-LONGEST_NAME:]
    if not kept.strip(".- "):
        raise UsageError("the file has no name", hint="Choose a CSV, JSONL or Parquet file.")
    return f"file{kept}" if kept[0] in ".-" else kept
