"""Reading commits and files out of git's own store of objects, many with one process."""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import IO

from easeci.build.git import ending, start_git
from easeci.errors import InfrastructureError, UsageError

REGULAR_FILES = (b"100644", b"100755", b"100664")
NEVER_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\ud800-\udc7f]")
"""Characters that no revision has: control characters, and surrogates that stand for no byte."""
LONGEST_SUBJECT = 1 << 16


@dataclass(frozen=True)
class GitObject:
    """An object of git: its full id, its kind (commit, tree, blob, tag) and its bytes."""

    id: str
    kind: str
    content: bytes

    @property
    def subject(self) -> str:
        """Of a commit: the first paragraph of its message, on one line, printable."""
        headers, _, message = self.content.partition(b"\n\n")
        text = _decoded(message[:LONGEST_SUBJECT], headers)
        lines = (line.rstrip() for line in text.lstrip().split("\n"))
        return printable(" ".join(takewhile(bool, lines)).strip())


@dataclass(frozen=True)
class CommitFacts:
    """What a command needs to know of a commit: its full id, its subject, and one of its files."""

    id: str
    subject: str
    file: bytes | None
    """The content of the file that was asked for; None if the commit has no such regular file."""


class ObjectReader:
    """One ``git cat-file --batch``, which is asked for one object after the other."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions = questions
        self._answers = answers

    def commit(self, revision: str) -> GitObject | None:
        """The commit that a revision names; an annotated tag names its commit. None if absent."""
        if NEVER_IN_NAMES.search(revision):
            return None
        try:
            found = self._read(f"{revision}^{{commit}}")
        except EOFError:  # some revisions end git, such as HEAD@{99} where HEAD is younger
            return None
        return found if found is not None and found.kind == "commit" else None

    def facts(self, revision: str, path: str | None) -> CommitFacts | None:
        """The commit that a revision names, and one of its files if ``path`` is given."""
        found = self.commit(revision)
        if found is None:
            return None
        return CommitFacts(
            found.id, found.subject, None if path is None else self.file(found.id, path)
        )

    def file(self, commit: str, path: str) -> bytes | None:
        """The content of a regular file at a commit; None if there is none of that name."""
        if "\n" in path:
            raise UsageError(f"{printable(path)!r} has a line break in its name", hint="Rename it.")
        try:
            blob = self._blob_at(commit, posixpath.normpath(path))
            return None if blob is None else self._need(blob).content
        except EOFError:
            raise InfrastructureError(f"git cannot read {path} at commit {commit[:10]}") from None

    def _blob_at(self, commit: str, path: str) -> str | None:
        """The id of a regular file. A tree is read because only it knows what a link is."""
        folder, _, name = path.rpartition("/")
        if folder.startswith(".."):
            return None
        tree = self._read(f"{commit}:{folder}")
        if tree is None or tree.kind != "tree":
            return None
        for mode, entry, blob in _entries(tree):
            if entry == name.encode("utf-8", "surrogateescape") and mode in REGULAR_FILES:
                return blob
        return None

    def _need(self, blob: str) -> GitObject:
        found = self._read(blob)
        if found is None:  # a partial clone, or a damaged one
            raise EOFError
        return found

    def _read(self, name: str) -> GitObject | None:
        """The object of that name, None if there is none. EOFError if git has ended."""
        try:
            self._questions.write(name.encode("utf-8", "surrogateescape") + b"\n")
            self._questions.flush()
        except BrokenPipeError:
            raise EOFError from None
        line = self._answers.readline()
        if not line:
            raise EOFError
        header = re.fullmatch(rb"([0-9a-f]{40,64}) (\w+) (\d+)\n", line)
        if header is None:  # such as "HEAD~99 missing"
            return None
        content = self._answers.read(int(header[3]) + 1)[:-1]  # a line feed follows it
        return GitObject(header[1].decode(), header[2].decode(), content)


@contextmanager
def read_objects(
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    borrowed: Path | None = None,
) -> Iterator[ObjectReader]:
    """Read objects of the repository that the folder is in."""
    question = ("cat-file", "--batch")
    started = start_git(
        folder, *question, environment=environment, borrowed=borrowed, stdin=subprocess.PIPE
    )
    with ending(started) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield ObjectReader(process.stdin, process.stdout)
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()


def printable(text: str) -> str:
    """The text with a space for every character that a terminal could misread."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _entries(tree: GitObject) -> Iterator[tuple[bytes, bytes, str]]:
    """The mode, the name and the object's id of everything in a tree."""
    start, id_bytes = 0, len(tree.id) // 2
    while start < len(tree.content):
        end = tree.content.index(b"\0", start)
        mode, _, name = tree.content[start:end].partition(b" ")
        start = end + 1 + id_bytes
        yield mode, name, tree.content[end + 1 : start].hex()


def _decoded(message: bytes, headers: bytes) -> str:
    """The message as text, in the encoding that the commit declares; UTF-8 unless it does."""
    declared = re.search(rb"^encoding ([\w.:-]+)$", headers, re.MULTILINE)
    try:
        return message.decode(declared[1].decode() if declared else "utf-8", "replace")
    except (LookupError, ValueError):
        return message.decode("utf-8", "replace")
