"""The owner at a server that takes little at once."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import httpx

from easeci.ledger.state import Testset
from easeci.service.project import open_project
from tests.projects import sealed_ids
from tests.repositories import Workplace
from tests.sites import Here, Visit

LIMIT = 64 * 1024
"""What this server takes at once, so that more than that is still little."""


@dataclass
class Uploading:
    """The owner at a server that keeps what it is sent in a folder of its own."""

    place: Workplace
    here: Here
    owner: Visit
    scratch: Path

    @property
    def left(self) -> list[str]:
        return sorted(path.name for path in self.scratch.iterdir())

    @property
    def testset(self) -> Testset:
        testset = open_project(self.place.repository).state.latest_testset
        assert testset is not None
        return testset

    def send(
        self, name: str, content: bytes, path: str = "/testsets/1/labels", **fields: str
    ) -> httpx.Response:
        field = "examples" if path == "/testsets" else "labels"
        return self.owner.send(path, files={field: (name, content)}, **fields)


def labels(place: Workplace, first: int, last: int) -> list[tuple[str, str]]:
    """Labels of sealed examples; those of the public sample count for nothing."""
    sealed = sealed_ids(place.repository)
    rows = list(csv.reader(place.labels.read_text().splitlines()))[1:]
    return [(name, label) for name, label in rows if name in sealed][first:last]


def as_csv(rows: list[tuple[str, str]]) -> bytes:
    return "\n".join(["id,label", *(",".join(row) for row in rows), ""]).encode()
