"""Marks that a program leaves for the next build. Data only: the programs themselves read it, too.

Each mark is a pair: how the first program leaves it, and how the second one looks for it. The second
also removes what it finds, so that the control leaves nothing on the machine.
"""

from __future__ import annotations

PROGRAM = """
import json, os, textwrap
from marks import BEGINNING, MARKS
targets = json.load(open("targets.json"))
found = []
for name, acts in MARKS.items():
    pid = os.fork()  # so that no mark is kept by this process, and none ends the others
    if pid == 0:
        seen = False
        try:
            known = {"os": os, "targets": targets}
            exec(BEGINNING, known)
            exec(textwrap.dedent(acts[targets["act"]]), known)
            seen = bool(known["act"]())
        except BaseException as error:
            print(name, type(error).__name__, error, flush=True)
        os._exit(seen)
    if os.waitpid(pid, 0)[1]:
        found.append(name)
with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
    json.dump(found, file)
"""
BEGINNING = """
import ctypes, fcntl, socket, struct, sys, time
from contextlib import suppress
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
token, number, mounted = targets["token"], targets["number"], targets["mounted"]
"""


def _file_in(folder: str) -> tuple[str, str]:
    """A file in a folder, which a Python expression gives."""
    leave = f"""
        def act():
            os.makedirs({folder}, exist_ok=True)
            open({folder} + "/" + token, "w").write("mark")
    """
    look = f"""
        def act():
            os.stat({folder} + "/" + token)
            with suppress(OSError):
                os.unlink({folder} + "/" + token)
            return True
    """
    return leave, look


def _change_of(change: str, found: str) -> tuple[str, str]:
    """A change of a mounted file, and an expression that is true if it is there."""
    opened = """
        def act():
            file = os.open(mounted + "/weights", os.O_RDONLY)
    """
    return f"{opened}        {change}\n", f"{opened}        return {found}\n"


PRIVATE = {
    "a file in the home": _file_in("os.environ['HOME']"),
    "a file in TMPDIR": _file_in("os.environ['TMPDIR']"),
    "a file beside the predictions": _file_in("os.path.dirname(os.environ['EASECI_PREDICTIONS'])"),
    "a file in the checkout": _file_in("os.getcwd()"),
    "a file among the examples": _file_in("os.environ['EASECI_EXAMPLES']"),
    "a time of the examples": (
        """
        def act():
            os.utime(os.environ["EASECI_EXAMPLES"] + "/examples.csv", (5, 5))
        """,
        """
        def act():
            about = os.stat(os.environ["EASECI_EXAMPLES"] + "/examples.csv")
            return (about.st_atime, about.st_mtime) != (315532800, 315532800)
        """,
    ),
    "a reading of the examples": (
        """
        def act():
            open(os.environ["EASECI_EXAMPLES"] + "/examples.csv").read()
        """,
        """
        def act():
            return os.stat(os.environ["EASECI_EXAMPLES"] + "/examples.csv").st_atime != 315532800
        """,
    ),
    "a process that stays": (
        """
        def act():
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    server = socket.socket(socket.AF_UNIX)
                    server.bind("\\0" + token)
                    server.listen()
                    time.sleep(600)
                os._exit(0)
            time.sleep(0.2)
        """,
        """
        def act():
            socket.socket(socket.AF_UNIX).connect("\\0" + token)
            return True
        """,
    ),
    "a lock of a mounted file": (
        """
        def act():
            fcntl.flock(os.open(mounted + "/weights", os.O_RDONLY), fcntl.LOCK_EX)
        """,
        """
        def act():
            try:
                file = os.open(mounted + "/weights", os.O_RDONLY)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        """,
    ),
}
"""Even without a sandbox, no build finds these: it has folders of its own, and processes end."""

LASTING = {
    "a file in /tmp": _file_in("'/tmp'"),
    "a file in /var/tmp": _file_in("'/var/tmp'"),
    "a file in /dev/shm": _file_in("'/dev/shm'"),
    "a file in a mounted folder": _file_in("mounted"),
    "a compiled module in a mounted folder": (
        """
        def act():
            sys.path.insert(0, mounted)
            import module
        """,
        """
        def act():
            return os.path.exists(mounted + "/__pycache__")
        """,
    ),
    "a file beside the workspace": _file_in("os.getcwd() + '/../..'"),
    "a hook of the repository": _file_in("targets['repository'] + '/.git/hooks'"),
    "a segment of memory": (
        """
        def act():
            segment = libc.shmget(number, 4096, 0o1666)
            ctypes.memmove(libc.shmat(segment, None, 0), b"mark", 4)
        """,
        """
        def act():
            segment = libc.shmget(number, 0, 0)
            libc.shmctl(segment, 0, None)
            return segment >= 0
        """,
    ),
    "a queue of messages": (
        """
        def act():
            libc.msgsnd(libc.msgget(number, 0o1666), struct.pack("l4s", 1, b"mark"), 4, 0)
        """,
        """
        def act():
            queue = libc.msgget(number, 0)
            libc.msgctl(queue, 0, None)
            return queue >= 0
        """,
    ),
    "a semaphore": (
        """
        def act():
            libc.semget(number, 1, 0o1666)
        """,
        """
        def act():
            semaphore = libc.semget(number, 1, 0)
            libc.semctl(semaphore, 0, 0)
            return semaphore >= 0
        """,
    ),
    "a named queue": (
        """
        def act():
            mq_open = 240 if os.uname().machine == "x86_64" else 180
            libc.syscall(mq_open, token.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
        """,
        """
        def act():
            mq_open, mq_unlink = (240, 241) if os.uname().machine == "x86_64" else (180, 181)
            queue = libc.syscall(mq_open, token.encode(), os.O_RDONLY, 0, None)
            libc.syscall(mq_unlink, token.encode())
            return queue >= 0
        """,
    ),
    "a key of the kernel's keyring": (
        """
        def act():
            add_key = 248 if os.uname().machine == "x86_64" else 217
            libc.syscall(add_key, b"user", token.encode(), b"mark", 4, -4)
        """,
        """
        def act():
            keyctl = 250 if os.uname().machine == "x86_64" else 219
            key = libc.syscall(keyctl, 10, -4, b"user", token.encode(), 0)
            libc.syscall(keyctl, 9, key, -4)
            return key >= 0
        """,
    ),
    "a mode of a mounted file": _change_of(
        "os.fchmod(file, 0o646)", "os.fstat(file).st_mode & 0o777 == 0o646"
    ),
    "a time of a mounted file": _change_of(
        "os.utime(file, (number, number))", "os.fstat(file).st_mtime == number"
    ),
    "an attribute of a mounted file": _change_of(
        "os.setxattr(file, 'user.mark', b'mark')", "os.listxattr(file)"
    ),
    "a flag of a mounted file": _change_of(
        "fcntl.ioctl(file, 0x40086602, struct.pack('l', 0x40))",
        "struct.unpack('l', fcntl.ioctl(file, 0x80086601, bytes(8)))[0] & 0x40",
    ),
    "a hint of a mounted file": _change_of(
        "fcntl.fcntl(file, 1036, struct.pack('Q', 3))",
        "struct.unpack('Q', fcntl.fcntl(file, 1035, bytes(8)))[0] == 3",
    ),
    "a mode of the vault": (
        """
        def act():
            os.chmod(targets["vault"], 0o711)
        """,
        """
        def act():
            return os.stat(targets["vault"]).st_mode & 0o777 == 0o711
        """,
    ),
    "a time of the vault": (
        """
        def act():
            os.utime(targets["vault"], (number, number))
        """,
        """
        def act():
            return os.stat(targets["vault"]).st_mtime == number
        """,
    ),
    "the priority of a process that stays": (
        """
        def act():
            os.setpriority(os.PRIO_PROCESS, targets["pid"], 7)
        """,
        """
        def act():
            return os.getpriority(os.PRIO_PROCESS, targets["pid"]) == 7
        """,
    ),
    "the processors of a process that stays": (
        """
        def act():
            os.sched_setaffinity(targets["pid"], {min(os.sched_getaffinity(0))})
        """,
        """
        def act():
            return len(os.sched_getaffinity(targets["pid"])) == 1
        """,
    ),
    "a limit of a process that stays": (
        """
        import resource
        def act():
            resource.prlimit(targets["pid"], resource.RLIMIT_SIGPENDING, (77, 77))
        """,
        """
        import resource
        def act():
            return resource.prlimit(targets["pid"], resource.RLIMIT_SIGPENDING) == (77, 77)
        """,
    ),
}
NOT_EVERYWHERE = {
    *("an attribute of a mounted file", "a flag of a mounted file"),
    *("a key of the kernel's keyring", "the processors of a process that stays"),
}
"""Some file systems, containers and machines with one processor do not know these."""
READING = "a reading of a mounted file"
"""The file system notes it, as far as it is mounted so. Landlock does not prevent that."""
MARKS = {
    **PRIVATE,
    **LASTING,
    READING: (
        """
        def act():
            open(mounted + "/old").read()
        """,
        """
        def act():
            return os.stat(mounted + "/old").st_atime > 2_000_000
        """,
    ),
}
