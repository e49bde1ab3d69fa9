"""docs/paper/: the page, its pictures, and the README's table, from the measured results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from easeci.charts import png
from paper import digits_page, impact, labels, prose, semeval_page, table
from paper.measured import Measured

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "paper"
PAGE, MEASURED, README = FOLDER / "README.md", FOLDER / "measured.json", ROOT / "README.md"
MARKS = "<!-- labels: written by make paper -->", "<!-- end of labels -->"
OPENING = """\
# The paper, reproduced

Written by `make paper`: what *Continuous Integration of Machine Learning Models with ease.ml/ci*
(SysML 2019) prints, beside what this code computes. Sample sizes come from the functions that
`easeci plan` calls, answers from those that `easeci check` calls. Simulations have fixed seeds, and
what they measured is in [measured.json](measured.json). Tests compare the page with the code and
its numbers with the paper's. Each picture is here as PNG too.

- [Labels by method](#labels-by-method): the short answer.
- [The table of sample sizes](#the-table-of-sample-sizes) and
  [numbers in the prose](#numbers-in-the-prose): all of them agree, and where a printed number is
  rounded otherwise, the row says so.
- [Impact of ε, δ and p](#impact-of-ε-δ-and-p-on-the-label-complexity) on the label complexity.
- [Sample size estimators against the empirical
  error](#sample-size-estimators-against-the-empirical-error), on a real classifier.
- [ease.ml/ci in action](#easemlci-in-action-the-semeval-2019-trace): the SemEval-2019 trace.
"""


def page(measured: Measured) -> str:
    sections = (
        labels.section(measured.months),
        table.section(),
        prose.section(),
        impact.section(),
        digits_page.section(measured.digits),
        semeval_page.section(measured.semeval),
    )
    return "\n".join((OPENING, *sections))


def pictures(measured: Measured) -> dict[str, str]:
    return {
        "labels.svg": labels.chart(measured.months),
        **impact.pictures(),
        "estimators.svg": digits_page.chart(measured.digits),
        **semeval_page.pictures(),
    }


def readme(text: str, measured: Measured) -> str:
    """The README with its table of labels brought up to date."""
    start, end = MARKS
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{labels.labels_table(measured.months)}{end}{after}"


FILES = 3 + 2 * 6
"""The page, what was measured, the README; and every picture twice."""


def write(measured: Measured) -> Iterator[Path]:
    """Write every file, and yield each path when it is written."""
    texts = {
        MEASURED: measured.to_json(),
        PAGE: page(measured),
        README: readme(README.read_text("utf-8"), measured),
    }
    FOLDER.mkdir(exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        yield path
    for name, svg in pictures(measured).items():
        path = FOLDER / name
        path.write_text(svg, encoding="utf-8")
        yield path
        path.with_suffix(".png").write_bytes(png(svg))
        yield path.with_suffix(".png")
