"""The built-in rules that score outputs: exact, contains, regex and numeric. A score is 0 or 1.

Outputs are hostile input. All rules take time linear in the length of an output: regular
expressions are those of Rust's crate ``regex``, which has no look-around and no back-references.

* ``exact``: output and reference are the same text.
* ``contains``: the reference is a part of the output.
* ``regex``: some part of the output matches the reference, as ``re.search`` finds it.
* ``numeric(t)``: both are numbers, at most t apart, compared exactly.

``exact`` and ``contains`` change both texts first, as their options say and in this order:
``ignore-punctuation`` removes characters of the Unicode categories P; ``ignore-case`` turns letters
into lower case (Unicode's simple and special mappings, as ``str.lower`` of Python, with ς as σ; ß
and ss stay different); ``ignore-space`` turns runs of Unicode white space into one blank, and
removes it from both ends.

A number is written with the digits 0 to 9, such as -12, .5 or 1.5e-3, with white space around it.
Separators of thousands, currencies and units are not understood: such an output scores 0. A number
has at most 400 characters, and a double can hold its size.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import polars as pl

from easeci.errors import DataError
from easeci.script.scorer import Ignored, Scorer, ScorerKind
from easeci.tables.column import by_number

LONGEST_NUMBER = 400
SMALLEST_EXPONENT = -400
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_EXACT = Context(prec=3 * LONGEST_NUMBER - 2 * SMALLEST_EXPONENT)
"""Enough digits for the difference of any two numbers."""
GUARD = 1e-12
"""Differences of doubles that are relatively closer to the tolerance are computed exactly."""


def built_in_scores(scorer: Scorer, outputs: pl.Series, references: pl.Series) -> pl.Series:
    """The scores of outputs by a built-in rule: Float64, 0 or 1.

    Outputs and references are texts of equal number, none missing. A reference that the rule cannot
    use (see :func:`require_references`) scores 0.
    """
    if len(outputs) != len(references):
        raise ValueError("one reference for each output is needed")
    frame = pl.DataFrame({"output": outputs, "reference": references})
    match scorer.kind:
        case ScorerKind.EXACT:
            both = _normalised(frame, scorer)
            right = both["output"] == both["reference"]
        case ScorerKind.CONTAINS:
            both = _normalised(frame, scorer)
            found = pl.col("output").str.contains(pl.col("reference"), literal=True)
            right = both.select(found & (pl.col("reference") != "")).to_series()
        case ScorerKind.REGEX:
            right = _matches(frame)
        case ScorerKind.NUMERIC:
            right = _close(frame, scorer.tolerance)
        case _:
            raise ValueError(f"{scorer.kind} is not a built-in rule")
    return right.fill_null(False).cast(pl.Float64).alias("score")


def _normalised(frame: pl.DataFrame, scorer: Scorer) -> pl.DataFrame:
    return frame.with_columns(_normal(pl.col(name), scorer) for name in frame.columns)


def _normal(text: pl.Expr, scorer: Scorer) -> pl.Expr:
    if Ignored.PUNCTUATION in scorer.ignored:
        text = text.str.replace_all(r"\p{P}+", "")
    if Ignored.CASE in scorer.ignored:
        # Lower case has ς at the end of a word: whether a text contains another depends on it.
        text = text.str.to_lowercase().str.replace_all("ς", "σ", literal=True)
    if Ignored.SPACE in scorer.ignored:
        text = text.str.replace_all(r"\s+", " ").str.strip_chars(" ")
    return text


def _matches(frame: pl.DataFrame) -> pl.Series:
    """Where outputs match their references; null where that is not a regular expression."""
    matched = pl.col("output").str.contains(pl.col("reference"), strict=False)
    return frame.select(matched).to_series()


# -- numbers


def _is_number(text: pl.Expr) -> pl.Expr:
    """Whether a text without white space around it is a number that a double can hold."""
    written = (text.str.len_bytes() <= LONGEST_NUMBER) & text.str.contains(_NUMBER)
    exponent = text.str.extract(r"[eE]([+-]?[0-9]+)$").cast(pl.Int64, strict=False).fill_null(0)
    finite = text.cast(pl.Float64, strict=False).is_finite().fill_null(False)
    return written & finite & (exponent >= SMALLEST_EXPONENT)


def _trimmed(name: str) -> pl.Expr:
    return pl.col(name).str.replace_all(r"^\s+|\s+$", "")


def _close(frame: pl.DataFrame, tolerance: Fraction) -> pl.Series:
    """Where both are numbers that are at most the tolerance apart."""
    trimmed = frame.select(_trimmed("output"), _trimmed("reference")).with_row_index("row")
    texts = trimmed.filter(_is_number(pl.col("output")) & _is_number(pl.col("reference")))
    x, y = (pl.col(name).cast(pl.Float64) for name in ("output", "reference"))
    apart, most = (x - y).abs(), float(tolerance)
    unsure = (apart - most).abs() <= GUARD * (x.abs() + y.abs() + most)
    known = texts.with_columns(
        right=(pl.col("output") == pl.col("reference")) | (apart <= most),
        unsure=(unsure | ~apart.is_finite()) & (pl.col("output") != pl.col("reference")),
    )
    close = set(known.filter(pl.col("right") & ~pl.col("unsure"))["row"])
    exact = _decimal(tolerance)
    doubtful = known.filter("unsure").select("row", "output", "reference")
    for row, output, reference in doubtful.iter_rows():
        difference = _EXACT.subtract(Decimal(output), Decimal(reference))
        if difference.copy_abs() <= exact:
            close.add(row)
    return trimmed["row"].is_in(list(close))


def _decimal(value: Fraction) -> Decimal:
    """A fraction that was written as a decimal number."""
    return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


# -- references


def usable_references(scorer: Scorer, references: pl.Series) -> pl.Series:
    """Which references a scorer can use; a missing one counts as usable."""
    if not scorer.kind.built_in:
        return pl.repeat(True, len(references), eager=True)
    frame = references.alias("reference").to_frame()
    match scorer.kind:
        case ScorerKind.CONTAINS:
            usable = frame.select(_normal(pl.col("reference"), scorer) != "").to_series()
        case ScorerKind.REGEX:
            usable = _matches(frame.with_columns(output=pl.lit(""))).is_not_null()
        case ScorerKind.NUMERIC:
            trimmed = frame.select(_trimmed("reference"))
            usable = trimmed.select(_is_number(pl.col("reference"))).to_series()
        case _:
            usable = pl.repeat(True, len(references), eager=True)
    return references.is_null() | usable.fill_null(False)


def unusable_reason(scorer: Scorer) -> str:
    """What is wrong with references that a scorer cannot use."""
    return _REASONS.get(scorer.kind, "cannot be used")


_REASONS = {
    ScorerKind.CONTAINS: "have no text that an output could contain",
    ScorerKind.REGEX: "are not regular expressions, or too large ones",
    ScorerKind.NUMERIC: "are not numbers",
}
_HINTS = {
    ScorerKind.CONTAINS: "What the scorer ignores does not count.",
    ScorerKind.REGEX: "The syntax is Rust's: no look-around such as (?=a), no references such as "
    "\\1.",
    ScorerKind.NUMERIC: "A number is written like -12, .5 or 1.5e-3, without units and without "
    "separators of thousands.",
}


def require_references(scorer: Scorer, references: pl.Series, name: str) -> None:
    """Refuse references that the scorer cannot use: a built-in rule would score all outputs 0.

    A missing reference is fine. The error names rows; it never quotes a reference, which is secret.
    """
    bad = ~usable_references(scorer, references)
    if bad.any():
        raise DataError(
            f"{name}: references of the scorer {scorer.kind} that {unusable_reason(scorer)}: "
            f"{by_number(bad)}",
            hint=_HINTS.get(scorer.kind),
        )
