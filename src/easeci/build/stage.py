"""Prepare the mounts of a build, then become the program that is given: bubblewrap.

A script of its own, run as ``python -I -S stage.py ORDERS`` with nothing but the standard library.
In a mount namespace of its own it makes a *room*: a file system in memory, with a size, that holds
all that the program writes. The checkout stays on disk; what the program changes in it goes into
the room (an overlay). As root it also puts folders that only root can pass through where the
build's user finds them, and becomes that user for good.

On standard input, a socket, it says ``room`` if the room was made.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing and pathlib would take longer to load than all the rest takes
    from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
NOSUID, NODEV, BIND, RECURSIVE, PRIVATE = 2, 4, 1 << 12, 1 << 14, 1 << 18
DROP_BOUND, NO_NEW_PRIVS, MOST_RIGHTS = 24, 38, 64
BOUND = ("output", "home", "tmp")
FAILED = 125


def separate(*, user: bool) -> None:
    """Give this process a mount namespace, which an ordinary user may only have in a user one."""
    uid, gid = os.getuid(), os.getgid()
    _checked(LIBC.unshare(NEW_MOUNTS | (NEW_USER if user else 0)))
    if user:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
    _mount(None, "/", None, RECURSIVE | PRIVATE)


def make_room(orders: dict[str, Any], *, user: bool) -> None:
    """Lay the room over the folders of the workspace, which is the current folder."""
    room = orders["room"]
    size = f"size={orders['bytes']},nr_inodes={orders['files']},mode=711"
    _mount("tmpfs", room, "tmpfs", NOSUID | NODEV, size)
    os.mkdir(f"{room}/work")
    for name, place in (("checkout", "upper"), *zip(BOUND, BOUND, strict=True)):
        like = os.stat(name)
        os.mkdir(f"{room}/{place}")
        os.chmod(f"{room}/{place}", like.st_mode & 0o777)
        os.chown(f"{room}/{place}", like.st_uid, like.st_gid)
    layers = f"lowerdir=checkout,upperdir={room}/upper,workdir={room}/work"
    _mount("overlay", "checkout", "overlay", NOSUID | NODEV, layers + (",userxattr" * user))
    for name in BOUND:
        _mount(f"{room}/{name}", name, None, BIND)


def room_is_possible(orders: dict[str, Any], *, user: bool) -> bool:
    """Try it in a child: a namespace in which it fails can't be left again."""
    child = os.fork()
    if child == 0:
        try:
            separate(user=user)
            make_room(orders, user=user)
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def become(uid: int) -> None:
    """Be an ordinary user without any rights, for good."""
    for right in range(MOST_RIGHTS):
        LIBC.prctl(DROP_BOUND, right, 0, 0, 0)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _checked(LIBC.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))


def prepare(orders: dict[str, Any]) -> None:
    """Make the mounts, enter the control group, give up all rights."""
    uid = orders["uid"]
    user = os.geteuid() != 0
    os.chdir(orders["workspace"])
    possible = room_is_possible(orders, user=user)
    if uid is not None or possible:
        separate(user=user)
    for source, place in orders["mounts"]:
        _mount(source, place, None, BIND | RECURSIVE)
    if possible:
        make_room(orders, user=user)
        os.write(0, b"room\n")
    for entrance in orders["cgroup"]:
        _write(entrance, "0")
    if uid is not None:
        become(uid)
    os.chdir("/")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _mount(source: str | None, place: str, kind: str | None, flags: int, data: str = "") -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, place, kind)]
    _checked(LIBC.mount(*texts, flags, os.fsencode(data) or None))


def _checked(result: int) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as orders_file:
        given = json.load(orders_file)
    try:
        prepare(given)
        os.execv(given["command"][0], given["command"])  # noqa: S606 - no shell
    except OSError as error:
        os.write(2, f"the mounts failed: {error}\n".encode())
    sys.exit(FAILED)
