"""Mail as a file: whole, once, in order, whoever else writes and whoever is killed."""

from __future__ import annotations

import fcntl
import mailbox
import os
import subprocess
import sys
import threading
import time
from email.header import decode_header, make_header
from pathlib import Path

import pytest

from easeci.notify import NotSent
from easeci.notify.mbox import MboxFile
from tests.letters import SENDER, an_email
from tests.waiting import PATIENCE

OTHERS = b"From someone Thu Jan  1 00:00:00 1970\nSubject: theirs\n\nnot ours\n\n"
WRITER = """
import sys
from pathlib import Path
from easeci.notify.mbox import MboxFile
from tests.letters import SENDER, an_email
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    MboxFile(Path(sys.argv[1]), SENDER).send(an_email(number))
"""


def subjects(path: Path) -> list[str]:
    """What Python's own reader finds."""
    box = mailbox.mbox(path, create=False)
    try:
        return [str(make_header(decode_header(message["Subject"]))) for message in box]
    finally:
        box.close()


def box_in(folder: Path) -> MboxFile:
    return MboxFile(folder / "box", SENDER)


def test_messages_follow_each_other_and_belong_to_their_owner(tmp_path: Path) -> None:
    box = box_in(tmp_path)
    for number in (1, 2, 3):
        box.send(an_email(number))
    assert subjects(box.path) == ["Number 1", "Number 2", "Number 3"]
    assert box.path.stat().st_mode & 0o777 == 0o600


def test_a_message_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    box = box_in(tmp_path)
    for number in (1, 2, 1, 2, 1):
        box.send(an_email(number))
    assert subjects(box.path) == ["Number 1", "Number 2"]
    box.send(an_email(1, "other@example.org"))  # the same letter to somebody else is another one
    assert len(subjects(box.path)) == 3


@pytest.mark.parametrize("before", [b"", OTHERS, OTHERS.rstrip(b"\n"), OTHERS + b"\n\n"])
def test_what_others_wrote_is_kept(tmp_path: Path, before: bytes) -> None:
    box = box_in(tmp_path)
    box.path.write_bytes(before)
    box.send(an_email(1))
    with box.path.open("ab") as file:
        file.write(OTHERS)
    box.send(an_email(2))
    box.send(an_email(1))
    assert box.path.read_bytes().startswith(before)
    assert subjects(box.path) == ["theirs"] * bool(before) + ["Number 1", "theirs", "Number 2"]


def test_a_process_killed_at_any_byte_loses_and_doubles_nothing(tmp_path: Path) -> None:
    box = box_in(tmp_path)
    box.send(an_email(1))
    first = box.path.read_bytes()
    box.send(an_email(2))
    both = box.path.read_bytes()
    for cut in cuts(len(first) - 1, len(both)):
        box.path.write_bytes(both[:cut])
        box.send(an_email(2))
        assert box.path.read_bytes().rstrip() == both.rstrip(), cut
    for cut in cuts(0, len(first)):
        box.path.write_bytes(first[:cut])
        box.send(an_email(1))
        assert box.path.read_bytes().rstrip() == first.rstrip(), cut


def cuts(start: int, end: int) -> list[int]:
    """Many bytes where something begins or ends, and some between."""
    return [*range(start, start + 15), *range(start + 15, end - 51, 97), *range(end - 51, end, 3)]


def test_lines_that_look_like_the_start_of_a_message_are_none(tmp_path: Path) -> None:
    box = box_in(tmp_path)
    box.send(an_email(1, text="First.\n\nFrom easeci Thu Jan  1 00:00:00 1970\n\nFrom x\n"))
    box.send(an_email(2))
    assert subjects(box.path) == ["Number 1", "Number 2"]


def test_an_address_beyond_ascii_can_be_written_to_a_file(tmp_path: Path) -> None:
    box = box_in(tmp_path)
    for _ in range(2):
        box.send(an_email(1, "jörg@müller.example"))
    assert box.path.read_text("utf-8").count("To: jörg@xn--mller-kva.example") == 1


def test_two_processes_at_once_write_every_message_once(tmp_path: Path) -> None:
    box = box_in(tmp_path)
    ranges = [("0", "30"), ("10", "40")]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(box.path), *span]) for span in ranges
    ]
    assert [writer.wait(timeout=PATIENCE) for writer in writers] == [0, 0]
    assert sorted(subjects(box.path)) == sorted(f"Number {number}" for number in range(40))


def test_threads_at_once_write_every_message_once(tmp_path: Path) -> None:
    box = box_in(tmp_path)

    def write() -> None:
        for number in range(10):
            box.send(an_email(number))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(subjects(box.path)) == sorted(f"Number {number}" for number in range(10))


def test_another_program_with_a_lock_is_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    box = MboxFile(tmp_path / "box", SENDER, lock_seconds=0.1)
    box.send(an_email(1))
    with box.path.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(NotSent, match="locked") as caught:
            box.send(an_email(2))
        assert (caught.value.permanent, caught.value.certain) == (False, True)
        patient = threading.Thread(target=MboxFile(box.path, SENDER).send, args=(an_email(3),))
        patient.start()
        time.sleep(0.1)
        assert subjects(box.path) == ["Number 1"]
    patient.join()
    assert subjects(box.path) == ["Number 1", "Number 3"]


def test_a_file_that_is_replaced_while_we_wait_is_not_written_to(tmp_path: Path) -> None:
    box = box_in(tmp_path)
    box.send(an_email(1))
    with box.path.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = threading.Thread(target=box.send, args=(an_email(2),))
        waiting.start()
        time.sleep(0.1)
        box.path.rename(tmp_path / "old")
        box.path.write_bytes(OTHERS)
    waiting.join()
    assert subjects(box.path) == ["theirs", "Number 2"]
    assert subjects(tmp_path / "old") == ["Number 1"]


def test_what_is_no_file_or_can_not_be_written_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "missing" / "box", tmp_path):
        with pytest.raises(NotSent) as caught:
            MboxFile(path, SENDER).send(an_email())
        assert not caught.value.permanent
        assert str(path) in caught.value.reason


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files is met in the middle of the second message."""
    box = box_in(tmp_path)
    box.send(an_email(1))
    before = box.path.read_bytes()
    program = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100},) * 2)\n" + WRITER
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(box.path), "2", "3"], capture_output=True, text=True
    )
    assert "can't be written: File too large" in done.stderr
    assert box.path.read_bytes() == before
    box.send(an_email(2))
    assert subjects(box.path) == ["Number 1", "Number 2"]
