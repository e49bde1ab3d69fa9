"""easeci on pushes: a push starts the test, a person labels, a mail reports the end.

A bare repository with a hook, a developer who pushes to it, a labeller at a real terminal (where a
program types), and a mail server: everything is real and runs on this machine.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import socket
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from examples.digits import FOREST, SVC, draw_digits, say

SHADES = " .,:;-=+ox*%#8&@M"
SCRIPT = """\
ml:
  - script      : ./test_model.py
  - condition   : n - o > 0.01 +/- 0.02
  - reliability : 0.999
  - mode        : fp-free
  - adaptivity  : full
  - steps       : 1                         # a short life, for a short demo
  - sensitivity : 0.95
  - difference  : 0.1
  - classes     : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  - email       : owner@example.org         # who hears that a new testset is needed
"""
PROGRAM = f'''\
"""Train the model, and predict a digit for every drawing."""
import os

import numpy as np
import numpy.typing as npt
import polars as pl
from model import MODEL
from sklearn.datasets import load_digits

shades = {{shade: darkness for darkness, shade in enumerate({SHADES!r})}}
pixels, digits = load_digits(return_X_y=True)
examples = pl.read_ndjson(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl"))
drawn = np.array([[shades[c] for c in text if c != "\\n"] for text in examples["drawing"]])
predictions = MODEL.fit(pixels, digits).predict(drawn)
table = pl.DataFrame({{"id": examples["id"], "prediction": predictions}})
table.write_csv(os.environ["EASECI_PREDICTIONS"])
'''
PUSHES = (
    ("A forest of five trees", FOREST.format("RandomForestClassifier", 5)),
    ("Support vectors", SVC.format("gamma=0.001")),
)
SIZE = 5_400
SEEDS = {"first": 2, "second": 3}
CLEAR = b"\x1b[2J\x1b[H"


def main() -> int:
    """Play the story beside a mail server; 0 if it went as expected."""
    with tempfile.TemporaryDirectory() as name:
        server = Controller(Mailbox(), hostname="127.0.0.1", port=free_port())
        server.start()
        try:
            return play(Path(name), server)
        finally:
            server.stop()


def play(folder: Path, server: Controller) -> int:
    """The story from the first push to the second testset."""
    owner = Owner(folder, f"smtp://127.0.0.1:{server.port}?from=easeci@example.org")
    say("Now by itself. The owner hosts a bare repository, and installs the hook.")
    owner.prepare()
    say("A developer pushes a first model. The owner seals a testset, on which it is built.")
    owner.push(*PUSHES[0])
    owner.easeci("testset", "add", "../first.jsonl", "--script", "../digits/.easeci.yml")
    owner.easeci("hook", "install")
    say("The developer pushes a better one.")
    owner.push(*PUSHES[1])
    say("No label is there yet. Somebody labels, as long as easeci asks; it stops by itself.")
    answers = owner.label()
    print(f"\n({answers} answers were typed)")
    say("The signal is in the log, the budget is used, and the owner has a letter:")
    owner.easeci("log")
    print(server.handler.letter())
    say("The old testset becomes the developers', and a new one takes its place.")
    owner.easeci("testset", "release", "--to", "../released")
    owner.easeci("testset", "add", "../second.jsonl", "--script", "../digits/.easeci.yml")
    return 0 if owner.as_expected and answers and server.handler.letters else 1


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


class Mailbox:
    """The mails that a mail server received."""

    def __init__(self) -> None:
        self.letters: list[str] = []

    async def handle_DATA(  # noqa: N802 - a name that the server looks for
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        """Keep a message."""
        content = envelope.content or b""
        self.letters.append(content.decode() if isinstance(content, bytes) else content)
        return "250 taken"

    def letter(self) -> str:
        """The first mail: its recipient, subject and plain text."""
        head, _, rest = self.letters[0].replace("\r\n", "\n").partition("\n\n")
        shown = [line for line in head.split("\n") if line.startswith(("To:", "Subject:"))]
        plain = rest.split("\n--=_")[0].split("\n\n", 1)[1].replace("=\n", "")
        return "\n" + "\n".join([*shown, "", plain.replace("=3D", "=")])


class Owner:
    """The bare repository and its commands; and the developer's clone of it."""

    def __init__(self, folder: Path, mail: str) -> None:
        self.folder, self.bare, self.clone = folder, folder / "digits.git", folder / "digits"
        self.mail = mail
        self.truth: dict[str, int] = {}
        self.as_expected = True

    def prepare(self) -> None:
        """Make both repositories and the two testsets."""
        self.clone.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        self.git("remote", "add", "origin", str(self.bare))
        (self.clone / ".easeci.yml").write_text(SCRIPT, encoding="utf-8")
        (self.clone / "test_model.py").write_text(PROGRAM, encoding="utf-8")
        for name, seed in SEEDS.items():
            generator = np.random.default_rng(seed)
            pixels, digits = draw_digits(SIZE, generator)
            drawings = [drawing(image) for image in pixels]
            self.truth |= dict(zip(map(seen, drawings), digits.tolist(), strict=True))
            ids = [f"{name}-{number:04}" for number in generator.permutation(SIZE)]
            table = pl.DataFrame({"id": ids, "drawing": drawings})
            table.write_ndjson(self.folder / f"{name}.jsonl")

    def push(self, title: str, model: str) -> None:
        """Commit a model in the developer's clone, and push it."""
        (self.clone / "model.py").write_text(model, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", title)
        print(f"\n$ git push        # {title}\n", flush=True)
        self.git("push", "--quiet", "origin", "main")

    def label(self) -> int:
        """Label at a terminal: type the digit that is shown until there are no more questions."""
        end, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        print("\n$ easeci label\n", flush=True)
        process = subprocess.Popen(
            [command(), "label", "--by", "labeller"],
            cwd=self.bare,
            env=self.environment() | {"TERM": "xterm"},
            stdin=inside,
            stdout=inside,
            stderr=inside,
        )
        os.close(inside)
        shown, answered = b"", 0
        while process.poll() is None or select.select([end], [], [], 0)[0]:
            if not select.select([end], [], [], 0.2)[0]:
                continue
            try:
                shown += os.read(end, 65536)
            except OSError:
                break
            screen = shown.rpartition(CLEAR)[2].decode(errors="replace").replace("\r\n", "\n")
            if shown.count(CLEAR) > answered and screen.endswith("> "):
                if answered == 0:
                    print(screen, flush=True)
                digit = self.truth[seen(screen.split("─" * 80)[1])]
                os.write(end, f"{digit + 1}\n".encode())  # the first class is the digit 0
                answered += 1
        print(shown.rpartition(CLEAR)[2].decode(errors="replace").rpartition("> ")[2], flush=True)
        return answered

    def environment(self) -> dict[str, str]:
        """The environment of commands, with the mail server in it."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EASECI_")}
        return kept | {"EASECI_SMTP_URL": self.mail}

    def git(self, *arguments: str) -> None:
        """Run git in the clone, as a developer."""
        who = ["-c", "user.name=Developer", "-c", "user.email=developer@example.org"]
        subprocess.run(
            ["git", *who, *arguments], cwd=self.clone, env=self.environment(), check=True
        )

    def easeci(self, *arguments: str) -> None:
        """Show a command, and run it in the bare repository."""
        print(f"\n$ easeci {' '.join(arguments)}\n", flush=True)
        done = subprocess.run(
            [command(), *arguments], cwd=self.bare, env=self.environment(), check=False
        )
        self.as_expected &= done.returncode == 0


def drawing(image: npt.NDArray[np.uint8]) -> str:
    """A digit in characters, dark ones for dark pixels."""
    return "\n".join("".join(SHADES[value] for value in row) for row in image.reshape(8, 8))


def seen(text: str) -> str:
    """A drawing without spaces, because a screen may lose some."""
    return "".join(text.split())


def command() -> str:
    """The installed easeci."""
    return str(Path(sys.executable).with_name("easeci"))


if __name__ == "__main__":
    sys.exit(main())
