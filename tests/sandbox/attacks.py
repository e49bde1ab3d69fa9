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
