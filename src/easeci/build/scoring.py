"""The owner's scorer: run in a sandbox on outputs, which are hostile input to it.

It is one file, sealed with the testset. It sees that file, the outputs that it is to score, and
what every program sees of this machine. It gets no repository, no network, and no labels but those
of its outputs. ``EASECI_OUTPUTS`` names a file with a line of JSON for each output::

    {"id": 7, "trial": 0, "output": "…", "reference": "…", "example": {"id": 7, "question": "…"}}

and ``EASECI_SCORES`` the file to write: columns id, score, trial if an example has several outputs,
and name for scores beside the main one.

One output can end a run: it makes the scorer crash, hang, or take all memory. So outputs that a run
left without a score are run again, in halves (:func:`score_in_parts`). One hostile output among
10,000 then costs about 28 short runs, and only that output goes without a score.
"""

from __future__ import annotations

import math
import stat
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from easeci.build.program import Exchange, Program, ProgramFiles, TreeSource, run_program
from easeci.build.repository import Repository
from easeci.build.sandbox import Limits, Sandbox, size_text
from easeci.errors import ScriptError

GIVEN = "outputs.jsonl"
SCORES = Exchange(
    "EASECI_OUTPUTS",
    GIVEN,
    "EASECI_SCORES",
    ("scores.csv", "scores.parquet", "scores.jsonl"),
    "scores",
)
MOST_RUNS = 200
"""How often the scorer is run for the outputs of one model, at most."""
LEAST_SECONDS = 60
"""A run on few outputs may take so long, or as long as one on all of them if that is shorter."""
MOST_TIMES = 4
"""All runs together may take so many times as long as the first one may."""

Found = TypeVar("Found")


@dataclass(frozen=True)
class ScorerProgram:
    """The owner's scorer: a folder with its file alone, how it is started, and its limits."""

    folder: Path
    command: str
    limits: Limits
    mounts: tuple[str, ...] = ()


LARGEST_SCORER = 1 << 20
_BINARY = b"\x7fELF"


def load_scorer(path: Path) -> bytes:
    """The content of the owner's scorer; ScriptError if it cannot be run as one.

    The rules are those of ``script:``. A file that ends in .py needs neither a first line that
    names its interpreter nor to be marked as a program.
    """
    name = path.name
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder" if stat.S_ISDIR(about.st_mode) else "not a regular file"
            raise ScriptError(f"scorer: {path} is {kind}", hint="A scorer is one file.")
        if about.st_size > LARGEST_SCORER:
            raise ScriptError(
                f"scorer: {path} has more than {size_text(LARGEST_SCORER)}",
                hint="It is one file that is sealed with the testset. Large data that it reads can "
                "be listed as mounts: in the script.",
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise ScriptError(
            f"scorer: there is no file {path}",
            hint="scorer: names a file, seen from the folder of the script.",
        ) from None
    except OSError as error:
        raise ScriptError(f"scorer: {path} cannot be read: {error.strerror}") from None
    first = content[:256].split(b"\n")[0]
    interpreted = first.startswith(b"#!")
    if interpreted and first.endswith(b"\r"):
        raise ScriptError(
            f"scorer: the first line of {name} ends as on Windows, so no interpreter is found",
            hint="Save it with Unix line endings.",
        )
    if path.suffix == ".py":
        return content
    if not interpreted and not content.startswith(_BINARY):
        raise ScriptError(
            f"scorer: {name} does not say what runs it",
            hint="Its first line is such as   #!/bin/sh   unless its name ends in .py.",
        )
    if not about.st_mode & stat.S_IXUSR:
        raise ScriptError(
            f"scorer: {name} is not marked as a program", hint=f"Mark it: chmod +x {name}"
        )
    return content


def place_scorer(name: str, content: bytes, folder: Path) -> None:
    """Put a sealed scorer into an empty folder, marked as a program if it is one by itself."""
    target = folder / name
    target.write_bytes(content)
    by_python = target.suffix == ".py" and not content.startswith(b"#!")
    target.chmod(0o644 if by_python else 0o755)


def run_scorer(
    scorer: ScorerProgram,
    given: Path,
    into: Path,
    sandboxes: Sequence[Sandbox],
    *,
    repository: Repository,
    hidden: Sequence[Path] = (),
) -> ProgramFiles:
    """Run the scorer once on the outputs in a folder; its scores and log go into another.

    BuildError if the scorer fails. No other folder of this machine that holds anything of the
    project is visible to it: ``hidden`` lists the store, and the repository always is one.
    """
    program = Program(scorer.command, scorer.limits, scorer.mounts)
    return run_program(
        TreeSource(scorer.folder),
        program,
        SCORES,
        given,
        into,
        sandboxes,
        repository=repository,
        hidden=hidden,
    )


@dataclass(frozen=True)
class PartScores(Generic[Found]):
    """What one run gave: scores by the place of the output, and why it failed, if it did."""

    found: Mapping[int, Found]
    failure: str = ""


@dataclass(frozen=True)
class AllScores(Generic[Found]):
    """The scores of outputs by their places, and why the others have none."""

    found: dict[int, Found] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    runs: int = 0


RunPart = Callable[[Sequence[int], int], PartScores[Found]]
"""Run the scorer on the outputs at these places, for so many seconds at most."""

NO_SCORE = "the scorer wrote no score for it"
TOO_MANY = f"the scorer failed too often: it was run {MOST_RUNS:,} times"
TOO_LONG = f"the scorer failed too often: its runs took {MOST_TIMES} times its time limit"


def score_in_parts(
    count: int,
    run: RunPart[Found],
    seconds: int,
    *,
    most_runs: int = MOST_RUNS,
    clock: Callable[[], float] = time.monotonic,
) -> AllScores[Found]:
    """Run the scorer on all outputs, and again on those that were left without a score.

    Those are split in halves, over and over, until each is scored or failed alone. A part gets its
    share of the ``seconds``. Large parts come first: if runs or time are used up, as few outputs as
    possible are left, and these count as failed.
    """
    done: AllScores[Found] = AllScores()
    least, runs, begun = min(seconds, LEAST_SECONDS), 0, clock()
    longest = MOST_TIMES * seconds + most_runs * least / 10
    parts: deque[Sequence[int]] = deque([range(count)] if count else [])
    while parts:
        part = parts.popleft()
        if runs >= most_runs or clock() - begun > longest:
            why = TOO_MANY if runs >= most_runs else TOO_LONG
            done.failed.update(dict.fromkeys(part, why))
            continue
        share = max(math.ceil(seconds * len(part) / count), least)
        result = run(part, share)
        runs += 1
        done.found.update({place: result.found[place] for place in part if place in result.found})
        left = [place for place in part if place not in result.found]
        if left and len(part) == 1:
            done.failed[left[0]] = result.failure or NO_SCORE
        elif left:
            half = (len(left) + 1) // 2
            parts.extend(piece for piece in (left[:half], left[half:]) if piece)
    return AllScores(done.found, done.failed, runs)
