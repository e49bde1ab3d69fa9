"""Mail as a file: each message is appended to an mbox, once.

A killed process can leave the beginning of one message at the end of the file. It is cut off before
the next message is written. A message that is complete in the file is not written again.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage, Message
from email.parser import BytesHeaderParser
from email.policy import SMTP, SMTPUTF8
from email.utils import parsedate_to_datetime
from io import FileIO
from pathlib import Path

from easeci.files import sync_folder
from easeci.notify.failure import NotSent

_START = b"From easeci "
_BETWEEN = re.compile(rb"(?:\A|(?<=\n\n))(?=From )")
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True)
class MboxFile:
    """A file that messages are appended to. Only its owner may read it."""

    path: Path
    sender: str
    lock_seconds: float = 10.0

    @property
    def where(self) -> str:
        """The file, for messages."""
        return f"the file {self.path}"

    def send(self, email: EmailMessage) -> None:
        """Append a message, unless the file has it already."""
        try:
            with _locked(self.path, self.lock_seconds) as file:
                _append_once(file, email)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NotSent(f"{self.where} can't be written: {why}") from None


def _append_once(file: FileIO, email: EmailMessage) -> None:
    content = file.readall()
    content, torn = _without_torn_end(content)
    if torn:
        os.ftruncate(file.fileno(), len(content))
    if any(_is(message, email) for message in _BETWEEN.split(content)):
        os.fsync(file.fileno())  # the process that wrote it may have been killed before this
        return
    written = _gap(content) + _START + _date(email) + b"\n" + _body(email) + b"\n"
    try:
        _write_all(file, len(content), written)
    except OSError:
        os.ftruncate(file.fileno(), len(content))
        raise


def _without_torn_end(content: bytes) -> tuple[bytes, bool]:
    """The file without what a killed process began to write. Mail of others stays as it is."""
    last = _BETWEEN.split(content)[-1]
    if last.startswith(_START) and not _is_whole(last):
        return content[: -len(last)], True
    for size in range(len(_START), 0, -1):  # not even the first words were complete
        kept = content[:-size]
        if content.endswith(_START[:size]) and (not kept or kept.endswith(b"\n\n")):
            return kept, True
    return content, False


def _write_all(file: FileIO, start: int, content: bytes) -> None:
    file.seek(start)
    while content:
        content = content[file.write(content) :]
    os.fsync(file.fileno())


def _gap(content: bytes) -> bytes:
    """What separates a message from what is before it."""
    if not content or content.endswith(b"\n\n"):
        return b""
    return b"\n" if content.endswith(b"\n") else b"\n\n"


def _body(email: EmailMessage) -> bytes:
    policy = SMTP if str(email["To"]).isascii() else SMTPUTF8
    content = email.as_bytes(policy=policy.clone(linesep="\n"))
    content = re.sub(rb"(?m)^(>*From )", rb">\1", content)  # or it would start another message
    return content if content.endswith(b"\n") else content + b"\n"


def _date(email: EmailMessage) -> bytes:
    when = parsedate_to_datetime(str(email["Date"]))
    return time.asctime(when.utctimetuple()).encode("ascii")  # in no language but English


def _is(message: bytes, email: EmailMessage) -> bool:
    return _headers(message)["Message-ID"] == str(email["Message-ID"]) and _is_whole(message)


def _is_whole(message: bytes) -> bool:
    """Whether a message of ours is there up to its closing boundary."""
    boundary = _headers(message).get_boundary()
    return boundary is not None and f"\n--{boundary}--".encode("utf-8", "replace") in message


def _headers(message: bytes) -> Message:
    _, _, content = message.partition(b"\n")  # the first line is mbox's own
    return BytesHeaderParser().parsebytes(content.partition(b"\n\n")[0])


@contextmanager
def _locked(path: Path, seconds: float) -> Iterator[FileIO]:
    """The file, for this process and thread alone. A lock ends with its process, however it ends.

    flock also holds between threads; other mail programs look at lockf. A lock file would stop all
    mail if a killed process left it behind, so there is none.
    """
    import fcntl  # here and not above, because only Unix has it

    deadline = time.monotonic() + seconds
    while True:
        with _opened(path) as file:
            for lock in (fcntl.flock, fcntl.lockf):
                _wait_for(lock, file, deadline)
            if _is_at(file, path):
                yield file
                return
        # It was replaced while we waited: write to the file that is there now.


def _opened(path: Path) -> FileIO:
    created = not path.exists()
    # Without O_NONBLOCK, opening a pipe that nobody reads would wait for ever.
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    file = FileIO(os.open(path, flags, 0o600), "r+")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotSent(f"{path} is not a file that mail could be appended to")
    if created:
        sync_folder(path.parent)
    return file


def _wait_for(lock: Callable[[int, int], None], file: FileIO, deadline: float) -> None:
    import fcntl

    while True:
        try:
            return lock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= deadline:
                raise NotSent("another program keeps the mailbox file locked") from None
            time.sleep(_PAUSE_SECONDS)


def _is_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
