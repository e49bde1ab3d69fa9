"""What hostile programs try to reach. Data only: the programs themselves read it, too."""

from __future__ import annotations

HARNESS = """
import json, os, sys
targets = json.load(open("targets.json"))
{attack}
try:
    reached = bool(attack())
except BaseException as error:
    print(type(error).__name__, error)
    reached = False
with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
    file.write("id,prediction\\n1,%s\\n" % ("reached" if reached else "stopped"))
"""

ATTACKS = {
    "the labels in the vault": """
        def attack():
            return "SECRET" in open(targets["vault"] + "/labels.csv").read()
    """,
    "a list of the vault": """
        def attack():
            return os.listdir(targets["vault"])
    """,
    "a list of the repository": """
        def attack():
            return os.listdir(targets["repository"])
    """,
    "a hook of the repository": """
        def attack():
            with open(targets["repository"] + "/.git/hooks/post-commit", "w") as file:
                return file.write("#!/bin/sh")
    """,
    "the settings of the repository": """
        def attack():
            with open(targets["repository"] + "/.git/config", "a") as file:
                return file.write("[core]")
    """,
    "the modes of the vault": """
        def attack():
            os.chmod(targets["vault"], 0o755)
            return os.stat(targets["vault"]).st_mode & 0o777 == 0o755
    """,
    "the times of the vault": """
        def attack():
            os.utime(targets["vault"], (5, 5))
            return os.stat(targets["vault"]).st_mtime == 5
    """,
    "the times of the vault, by a descriptor": """
        def attack():
            fd = os.open(targets["vault"], os.O_PATH)
            os.utime("/proc/self/fd/%d" % fd, (5, 5))
            return os.stat(targets["vault"]).st_mtime == 5
    """,
    "news of the vault": """
        import ctypes
        def attack():
            libc, vault = ctypes.CDLL(None), targets["vault"].encode()
            watch = libc.inotify_add_watch(libc.inotify_init1(0), vault, 2)
            fid, add, cwd, written = 0x200, 1, -100, ctypes.c_ulonglong(2)
            mark = libc.fanotify_mark(libc.fanotify_init(fid, 0), add, written, cwd, vault)
            return watch >= 0 or mark == 0
    """,
    "memory that stays": """
        import ctypes
        def attack():
            libc = ctypes.CDLL(None)
            made = libc.shmget(0, 4096, 0o600)
            return made >= 0 and libc.shmctl(made, 0, None) == 0
    """,
    "messages that stay": """
        import ctypes
        def attack():
            libc = ctypes.CDLL(None)
            made = libc.msgget(0, 0o600)
            return made >= 0 and libc.msgctl(made, 0, None) == 0
    """,
    "semaphores that stay": """
        import ctypes
        def attack():
            libc = ctypes.CDLL(None)
            made = libc.semget(0, 1, 0o600)
            return made >= 0 and libc.semctl(made, 0, 0) == 0
    """,
    "a named queue that stays": """
        import ctypes
        def attack():
            libc, name = ctypes.CDLL(None), b"easeci-%d" % os.getpid()
            mq_open, mq_unlink = (240, 241) if os.uname().machine == "x86_64" else (180, 181)
            made = libc.syscall(mq_open, name, os.O_CREAT | os.O_RDWR, 0o600, None)
            return made >= 0 and libc.syscall(mq_unlink, name) == 0
    """,
    "a socket that leaves the network's namespace": """
        import ctypes
        def attack():
            libc = ctypes.CDLL(None)
            libc.socket.argtypes = [ctypes.c_long] * 3
            inside = (1, 2, 10, 16)
            others = [family for family in range(3, 64) if family not in inside]
            others += [family | 1 << 32 for family in others]
            kinds = (1, 2, 3, 5)
            return [f for f in others for kind in kinds if libc.socket(f, kind, 0) >= 0]
    """,
    "a listener in a mounted folder": """
        import socket
        def attack():
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(targets["mounted"] + "/deep/socket")
            return True
    """,
    "a pipe in a mounted folder": """
        def attack():
            pipe = os.open(targets["mounted"] + "/deep/pipe", os.O_WRONLY | os.O_NONBLOCK)
            return os.write(pipe, b"x")
    """,
    "the modes of a mounted file": """
        def attack():
            fd = os.open(targets["mounted"] + "/weights", os.O_RDONLY)
            os.fchmod(fd, 0o604)
            return os.fstat(fd).st_mode & 0o777 == 0o604
    """,
    "the times of a mounted file": """
        def attack():
            fd = os.open(targets["mounted"] + "/weights", os.O_RDONLY)
            os.utime(fd, (5, 5))
            return os.fstat(fd).st_mtime == 5
    """,
    "a lease of a mounted file": """
        import fcntl
        def attack():
            fd = os.open(targets["mounted"] + "/weights", os.O_RDONLY)
            return fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0
    """,
    "a listener on this machine": """
        import socket
        def attack():
            return socket.create_connection(("127.0.0.1", targets["port"]), timeout=2)
    """,
    "a listener on a local socket": """
        import socket
        def attack():
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(targets["socket"])
            return True
    """,
    "a private file": """
        def attack():
            return open(targets["private"]).read()
    """,
    "the memory of the process that builds": """
        def attack():
            return open("/proc/%d/mem" % targets["pid"], "rb")
    """,
    "the environment of the process that builds": """
        def attack():
            return open("/proc/%d/environ" % targets["pid"], "rb").read()
    """,
    "the open files of the process that builds": """
        def attack():
            return os.listdir("/proc/%d/fd" % targets["pid"])
    """,
    "the process that builds, by a signal": """
        import signal
        def attack():
            return os.kill(targets["pid"], signal.SIGUSR1) is None
    """,
    "the process that builds, as a debugger": """
        import ctypes
        def attack():
            libc = ctypes.CDLL(None)
            libc.ptrace.argtypes = [ctypes.c_long] * 4
            if libc.ptrace(16, targets["pid"], 0, 0) == 0:
                os.waitpid(targets["pid"], 0x40000000)
                return libc.ptrace(17, targets["pid"], 0, 0) == 0
    """,
    "the limits of the process that builds": """
        import resource
        def attack():
            return resource.prlimit(targets["pid"], resource.RLIMIT_CORE, (0, 0))
    """,
    "the priority of the process that builds": """
        def attack():
            os.setpriority(os.PRIO_PROCESS, targets["pid"], 19)
            return os.getpriority(os.PRIO_PROCESS, targets["pid"]) == 19
    """,
    "a file beside the checkout": """
        def attack():
            return open(os.path.join(os.getcwd(), "..", "planted"), "w").write("x")
    """,
    "the examples, to change them": """
        def attack():
            return open(os.environ["EASECI_EXAMPLES"] + "/examples.csv", "a").write("2,woof")
    """,
    "the examples, to add one": """
        def attack():
            return open(os.environ["EASECI_EXAMPLES"] + "/more.csv", "w").write("2,woof")
    """,
    "a user namespace of its own": """
        import ctypes
        def attack():
            return ctypes.CDLL(None).unshare(0x10000000) == 0
    """,
}
