"""Locks on files, by the operating system: a lock ends with its process, however that ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from easeci.errors import InfrastructureError


@contextmanager
def locked(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock on a file, which is made if it is missing.

    Waits while another process holds the lock; ``waiting`` is then called once.
    """
    import fcntl  # here and not above, because only Unix has it

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InfrastructureError(
            f"{path.parent} may not be written: {error.strerror}",
            hint="Your account must be allowed to write to the store; --store names another.",
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is not None:
                waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock on a file right now."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:  # the file is made by the first lock
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
