"""Objects of git whose names lie: what an account can write that may push to a repository."""

from __future__ import annotations

import hashlib
import struct
import subprocess
import zlib
from pathlib import Path


def loose_path(git_dir: Path, name: str) -> Path:
    """Where git looks for a loose object."""
    return git_dir / "objects" / name[:2] / name[2:]


def forge_loose(git_dir: Path, name: str, kind: str, content: bytes) -> None:
    """Write an object under the name of another one."""
    path = loose_path(git_dir, name)
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(f"{kind} {len(content)}\0".encode() + content))


def forge_packed(git_dir: Path, name: str, content: bytes) -> None:
    """Write a pack whose index gives a blob the name of another one (SHA-1)."""
    header = b"PACK" + struct.pack(">II", 2, 1)
    size, first = len(content), (3 << 4) | (len(content) & 15)
    size >>= 4
    sizes = bytearray([first | (128 if size else 0)])
    while size:
        sizes.append((size & 127) | (128 if size >> 7 else 0))
        size >>= 7
    packed = bytes(sizes) + zlib.compress(content)
    body = header + packed
    pack_sum = hashlib.sha1(body).digest()
    lie = bytes.fromhex(name)
    fanout = b"".join(struct.pack(">I", int(lie[0] <= n)) for n in range(256))
    index = b"\377tOc" + struct.pack(">I", 2) + fanout + lie
    index += struct.pack(">II", zlib.crc32(packed), len(header)) + pack_sum
    place = git_dir / "objects" / "pack" / f"pack-{pack_sum.hex()}"
    place.with_suffix(".pack").write_bytes(body + pack_sum)
    place.with_suffix(".idx").write_bytes(index + hashlib.sha1(index).digest())


def object_content(git_dir: Path, kind: str, name: str) -> bytes:
    """The content of an object, as git reads it; the repository may be of another account."""
    command = ["git", "-c", "safe.directory=*", "cat-file", kind, name]
    return subprocess.run(command, cwd=git_dir, capture_output=True, check=True).stdout
