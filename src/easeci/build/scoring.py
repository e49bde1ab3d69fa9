"""The owner's scorer: run in a sandbox on outputs, which are hostile input to it.

It is one file, sealed with the testset. It sees that file, the outputs that it is to score, and
what every program sees of this machine. It gets no repository, no network, and no labels but those
of its outputs. ``EASECI_OUTPUTS`` names a file with a line of JSON for each output::

    {"id": 7, "trial": 0, "output": "…", "reference": "…", "example": {"id": 7, "question": "…"}}

and ``EASECI_SCORES`` the file to write: columns id, score, trial if an example has several outputs,
and name for scores beside the main one.

One output can end a run: it makes the scorer crash, hang, or take all memory. So outputs that a run
left without a score are run again, in halves (:func:`score_in_parts`). One hostile output among
10,000 then costs about 28 short runs, and only that output goes without a score. No output ever
counts as failed because of another one: however many are hostile, the rest is scored in the end.
"""

from __future__ import annotations

import math
import stat
import time
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
"""How often a command runs the scorer for the outputs of one model, at most. The next goes on."""
LEAST_SECONDS = 60
"""A run on few outputs may take so long, or as long as one on all of them if that is shorter."""
MOST_TIMES = 2
"""All runs of a command together may take so many times as long as the first one may."""
KEPT_EVERY_SECONDS = 30.0
"""What is settled is recorded so often, so that a killed command loses little."""

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
class SettledOutputs(Generic[Found]):
    """Scores of outputs by their places, and why others failed alone; ``left`` are still open."""

    found: dict[int, Found] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    left: tuple[int, ...] = ()
    runs: int = 0


@dataclass(frozen=True)
class ScoringBudget:
    """What may be spent on the outputs of one model at a time; ``until`` is by the clock."""

    seconds: int
    """How long a run on all outputs may take."""
    runs: int = MOST_RUNS
    until: float = math.inf


RunPart = Callable[[Sequence[int], int], PartScores[Found]]
"""Run the scorer on the outputs at these places, for so many seconds at most."""
Keep = Callable[[SettledOutputs[Found]], None]
"""Called now and then with the outputs that were settled since the last time."""

NO_SCORE = "the scorer wrote no score for it"


def score_in_parts(
    count: int,
    run: RunPart[Found],
    budget: ScoringBudget,
    keep: Keep[Found],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> SettledOutputs[Found]:
    """Run the scorer on all outputs, and again on those that were left without a score.

    Those are split in halves, over and over, until each is scored or has failed alone. Only an
    output that failed alone, within its whole share of the time, counts as failed. The first half
    comes next, down to a single output, so that every few runs settle something. If runs or time
    are used up, the rest is left for the next time.
    """
    seconds, least = budget.seconds, min(budget.seconds, LEAST_SECONDS)
    begun = kept_at = clock()
    # Enough to get down to a single output, so that every command settles something.
    path = 2 * least * (1 + math.ceil(math.log2(max(count, 1))))
    end = min(budget.until, begun + MOST_TIMES * seconds + path)
    parts: list[Sequence[int]] = [range(count)] if count else []
    all_: SettledOutputs[Found] = SettledOutputs()
    new: SettledOutputs[Found] = SettledOutputs()
    runs = 0
    while parts:
        share = max(math.ceil(seconds * len(parts[-1]) / count), least)
        allowed = min(share, math.floor(end - clock()))
        if runs >= budget.runs or allowed < 1:
            break
        part = parts.pop()
        result = run(part, allowed)
        runs += 1
        new.found.update({place: result.found[place] for place in part if place in result.found})
        left = [place for place in part if place not in result.found]
        if len(left) == len(part) == 1 and allowed < share:
            parts.append(part)  # it had less time than it may take
            break
        if left and len(part) == 1:
            new.failed[left[0]] = result.failure or NO_SCORE
        elif left:
            half = (len(left) + 1) // 2
            parts += [piece for piece in (left[half:], left[:half]) if piece]
        if clock() - kept_at > KEPT_EVERY_SECONDS:
            _hand_over(new, all_, keep)
            kept_at = clock()
    _hand_over(new, all_, keep)
    open_places = tuple(sorted(place for part in parts for place in part))
    return SettledOutputs(all_.found, all_.failed, open_places, runs)


def _hand_over(new: SettledOutputs[Found], all_: SettledOutputs[Found], keep: Keep[Found]) -> None:
    """Give what is new to the caller, and begin anew."""
    if new.found or new.failed:
        keep(SettledOutputs(dict(new.found), dict(new.failed)))
    all_.found.update(new.found)
    all_.failed.update(new.failed)
    new.found.clear()
    new.failed.clear()
