"""The owner's key: it makes digests of labels unguessable.

There are few ways to label a few examples, so anyone could find a plain hash of labels by trying.
Every digest of the vault is keyed with 32 random bytes that leave the store only in a backup.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from easeci.errors import InfrastructureError
from easeci.files import create_file, file_error

KEY_FILE = "key"
SIZE = 32
CHUNK = 1 << 20
TEXT_DIGEST_BYTES = 16
"""Without the key, nobody can find two texts that have the same digest."""


class Key:
    """32 secret bytes. Printing one shows nothing of them."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != SIZE:
            raise ValueError("a key has 32 bytes")
        self._secret = secret

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is never pickled")

    @property
    def identity(self) -> str:
        """The identity of the store that the key belongs to. It tells nothing about the key."""
        return self.digest(b"", "identity")[:16]

    def derived(self, purpose: str) -> bytes:
        """Another key for one purpose: the same content has another digest for each purpose."""
        return hmac.digest(self._secret, b"easeci:" + purpose.encode(), "sha256")

    def digest(self, content: bytes, purpose: str = "file") -> str:
        """HMAC-SHA256 in hex."""
        return self.digest_chunks([content], purpose)

    def digest_chunks(self, chunks: Iterable[bytes], purpose: str = "file") -> str:
        """The digest of chunks put together."""
        running = self.running_digest(purpose)
        for chunk in chunks:
            running.update(chunk)
        return running.hexdigest()

    def digests(self, texts: Iterable[str], purpose: str) -> list[str]:
        """The digest of each of many texts: keyed BLAKE2b of 16 bytes in hex, which is quicker."""
        derived = self.derived(purpose)
        return [
            hashlib.blake2b(text.encode(), key=derived, digest_size=TEXT_DIGEST_BYTES).hexdigest()
            for text in texts
        ]

    def running_digest(self, purpose: str = "file") -> hmac.HMAC:
        """A digest to which content is given piece by piece."""
        return hmac.new(self.derived(purpose), digestmod=hashlib.sha256)

    def digest_file(self, path: Path, purpose: str = "file") -> str:
        """The digest of a regular file's content. OSError if it cannot be read."""
        if not stat.S_ISREG(path.lstat().st_mode):
            raise OSError(f"not a regular file: {path.name}")
        with path.open("rb") as file:
            return self.digest_chunks(iter(lambda: file.read(CHUNK), b""), purpose)

    def file_content(self) -> bytes:
        """The content of the key's file: the bytes in hex, and a checksum that finds damage."""
        return f"{self._secret.hex()} {self.digest(b'', 'check')[:16]}\n".encode()


def create_key(store: Path) -> Key:
    """Make a new key in the store's folder. If another command was faster, load its key."""
    key = Key(secrets.token_bytes(SIZE))
    try:
        create_file(store / KEY_FILE, key.file_content(), 0o600)
    except FileExistsError:
        return load_key(store)
    return key


def load_key(store: Path) -> Key:
    """Load the key of a store."""
    path = store / KEY_FILE
    try:
        descriptor = os.open(path, os.O_RDONLY)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(CHUNK)
    except FileNotFoundError:
        raise InfrastructureError(
            f"the key of the store {store} is lost",
            hint="Put its file 'key' back from a backup: nothing can be verified without it.",
        ) from None
    except OSError as error:
        raise file_error(error, f"the key of the store {store} cannot be read") from None
    try:
        key = Key(bytes.fromhex(content[: 2 * SIZE].decode("ascii")))
    except ValueError:
        key = None
    if key is None or key.file_content() != content:
        raise InfrastructureError(
            f"the key of the store {store} was changed or damaged",
            hint="Put its file 'key' back from a backup: nothing can be verified without it.",
        )
    return key
