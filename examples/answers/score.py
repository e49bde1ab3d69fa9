"""The owner's scorer: how much of the reference an answer has, and whether it is short.

``score`` is the share of the reference's words that the output has. ``concise`` is 1 if the output
is at most 4 words longer than the reference, and falls to 0 at 16 words more. It treats outputs as
text and nothing else, so it makes no difference what they ask for.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from pathlib import Path

FREE, MOST = 4, 16


def words(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return re.findall(r"\w+", text.lower())


def score(reference: str, output: str) -> float:
    """The share of the reference's words that are in the output."""
    wanted = Counter(words(reference))
    return (wanted & Counter(words(output))).total() / wanted.total()


def concise(reference: str, output: str) -> float:
    """1 if the output has few words beyond the reference, and less the more it has."""
    beyond = len(words(output)) - len(words(reference))
    return min(1.0, max(0.0, (MOST - beyond) / (MOST - FREE)))


def main() -> None:
    """Score all outputs."""
    with (
        Path(os.environ["EASECI_OUTPUTS"]).open(encoding="utf-8") as given,
        Path(os.environ["EASECI_SCORES"]).open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(["id", "name", "score"])
        for line in given:
            row = json.loads(line)
            pair = row["reference"], row["output"]
            writer.writerow([row["id"], "score", score(*pair)])
            writer.writerow([row["id"], "concise", concise(*pair)])


if __name__ == "__main__":
    main()
