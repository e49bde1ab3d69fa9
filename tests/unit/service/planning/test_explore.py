"""The plan explorer: every text gives a plan or an error with its place, in bounded time."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.plan import Promise, plan
from easeci.plan.commit_mix import MIXES
from easeci.plan.curves import pass_curve, tolerance_curve
from easeci.plan.estimators import ESTIMATORS
from easeci.script import Estimator, parse_script
from easeci.script.keys import MOST_STEPS
from easeci.service.planning.explore import (
    FIELDS,
    LONGEST,
    MOST_CLAUSES,
    Exploration,
    FieldError,
    explore,
)
from easeci.service.scripts import make_script
from tests.cases import each_case
from tests.strategies import almost_conditions


def explored(**fields: str) -> Exploration:
    found = explore(fields)
    assert isinstance(found, Exploration), found
    return found


def refused(**fields: str) -> FieldError:
    found = explore(fields)
    assert isinstance(found, FieldError)
    return found


def test_blanks_are_filled_in_and_said() -> None:
    found = explored(reliability=" ", steps="16")
    assert found.script == make_script("n - o > 0.02 +/- 0.01", steps=16)
    assert found.defaults == {
        "condition": "n - o > 0.02 +/- 0.01",
        "reliability": "0.9999",
        "mode": "fp-free",
        "adaptivity": "full",
        "sensitivity": "0.9999",
        "effect": "0.02",
        "true_difference": "0.1",
    }


def test_numbers_are_those_of_the_plan() -> None:
    found = explored(difference="0.1")
    made = plan(found.script)
    assert found.plan == made
    for method, row in zip(found.methods, made.rows, strict=True):
        assert method.row == row
        if row.labels_in_all is not None:
            assert method.hours == {s: row.labels_in_all * s / 3600 for s in (2, 5)}
    assert [m.estimator for m in found.methods if m.recommended] == [Estimator.SEQUENTIAL]
    assert [m.estimator for m in found.methods if m.ours] == ["exact", "sequential"]
    assert [b.name for b in found.bars if b.recommended] == ["sequential"]
    assert all(b.labels is not None for b in found.bars)
    assert "pattern1" not in [b.name for b in found.bars]


def test_estimators_are_named_as_they_name_themselves() -> None:
    script = make_script("n > 0.8 +/- 0.05")
    assert all(estimator(script).estimator is name for name, estimator in ESTIMATORS.items())


def test_labels_at_the_supposed_effect() -> None:
    clear, middle, worse = (explored(effect=effect).reckoned for effect in ("4%", "0.01", "-0.03"))
    assert clear is not None
    assert middle is not None
    assert worse is not None
    assert middle.labels > 2 * max(clear.labels, worse.labels)
    assert [r.promise for r in (clear, middle, worse)] == [
        Promise.PASS,
        Promise.EITHER,
        Promise.FAIL,
    ]
    assert worse.labels_in_all == 32 * worse.labels
    assert middle.labels_in_all == explored().plan.estimate(Estimator.SEQUENTIAL).examples
    assert (worse.effect, worse.difference) == (-0.03, 0.1)


def test_a_condition_on_d_takes_no_labels() -> None:
    found = explored(condition="d < 0.1 +/- 0.01")
    assert found.reckoned is None
    assert {"effect", "true_difference"}.isdisjoint(found.defaults)


def test_a_condition_without_an_old_model_has_no_d() -> None:
    found = explored(condition="n > 0.8 +/- 0.02")
    assert found.reckoned is not None
    assert found.reckoned.difference is None
    assert "true_difference" not in found.defaults


@each_case(
    ("field", "text", "column", "width"),
    [
        ("condition", "  n - q > 0.02 +/- 0.01", 4, 1),
        ("condition", "n > 0.8 +/-", 11, 1),
        ("reliability", "99", 0, 2),
        ("steps", "many", 0, 4),
        ("mode", "fp", 0, 2),
        ("adaptivity", "sometimes", 0, 9),
        ("sensitivity", "1", 0, 1),
        ("difference", "-0.1", 0, 4),
        ("effect", "much", 0, 4),
        ("true_difference", "2", 0, 1),
    ],
)
def test_an_error_names_its_field_and_its_place(
    field: str, text: str, column: int, width: int
) -> None:
    found = refused(**{field: text})
    assert (found.field, found.column, found.width) == (field, column, width)
    assert found.text == text.strip()
    assert found.hint
    assert not found.message.startswith(f"{field}:")


@each_case(
    ("fields", "field", "words"),
    [
        ({"condition": "n" * (LONGEST["condition"] + 1)}, "condition", "longer than 500"),
        ({"mode": "x" * 101}, "mode", "longer than 100"),
        (
            {"condition": " /\\ ".join(["n > 0.8 +/- 0.1"] * (MOST_CLAUSES + 1))},
            "condition",
            "clauses",
        ),
        ({"condition": "n - o > 0.02 +/- 0.0001"}, "condition", "too many"),
        ({"condition": "d > 1e-9 +/- 0.1", "mode": "fn-free"}, "condition", "too many"),
        ({"difference": "0.9"}, "difference", "at most 0.45"),
        ({"condition": "n - o > 0 +/- 0.01 /\\ d < 0.9 +/- 0.05"}, "condition", "at most 0.45"),
        ({"condition": "n - o > 0.6 +/- 0.05"}, "condition", "at most 0.45"),
    ],
)
def test_what_would_take_long_is_refused_at_once_and_says_where_it_is_not(
    fields: dict[str, str], field: str, words: str
) -> None:
    found = refused(**fields)
    assert found.field == field
    assert words in found.message
    assert "easeci plan" in (found.hint or "")


def test_an_effect_that_cannot_be_is_refused() -> None:
    assert refused(effect="0.1", true_difference="0.05").field == "effect"
    assert refused(condition="n > 0.9 +/- 0.01", effect="0.2").field == "effect"


def test_the_mix_of_commits_is_chosen_by_name() -> None:
    found = explored(commits="tuning")
    assert found.plan == plan(found.script, MIXES["tuning"])
    assert found.plan.labels != explored().plan.labels
    wrong = refused(commits="wild")
    assert (wrong.field, wrong.message) == ("commits", "there is no mix 'wild'")
    assert "mixed, refactoring" in (wrong.hint or "")


def test_sample_and_estimator_are_those_of_the_script() -> None:
    """The numbers are those of `easeci plan` for the same script."""
    found = explored(sample="500", estimator="exact")
    made = plan(make_script("n - o > 0.02 +/- 0.01", sample=500, estimator="exact"))
    assert found.plan == made
    assert found.plan.bring is not None
    assert found.plan.bring.sample == 500
    assert (found.reckoned, found.tolerance_curve, found.pass_curve) == (None, None, None)
    assert parse_script(found.script_text) == found.script
    wrong = refused(condition="n > 0.5 +/- 0.1", estimator="pattern1")
    assert wrong.field == "estimator"
    assert "does not fit this condition" in wrong.message
    assert refused(sample="many").field == "sample"


def test_steps_have_the_range_that_a_script_has() -> None:
    """Their number costs no time, so only the size of the testset is bounded."""
    keys = {"condition": "n - o > 0.02 +/- 0.02", "adaptivity": "firstChange"}
    found = explored(**keys, steps=str(MOST_STEPS))
    assert found.plan == plan(make_script(**keys, steps=MOST_STEPS))
    assert "from 1 to 1,000,000,000" in refused(**keys, steps=str(MOST_STEPS + 1)).message


def test_a_warning_of_the_plan_is_one_of_the_page() -> None:
    found = explored(condition="n - o > 0.02 +/- 0.05")
    assert found.warnings == found.plan.warnings != ()


def test_curves_are_those_of_the_plan() -> None:
    """The second one assumes the true d that was given, or the one that was planned for."""
    found = explored(condition="n - o > 0.02 +/- 0.02", reliability="0.99", steps="8")
    assert found.tolerance_curve == tolerance_curve(found.plan)
    assert found.pass_curve == pass_curve(found.plan, Fraction(1, 10))
    other = explored(condition="n - o > 0.02 +/- 0.02", true_difference="0.2").pass_curve
    assert other is not None
    assert other.difference == 0.2


texts = st.one_of(
    st.just(""),
    st.text(max_size=12),
    st.sampled_from(
        [
            "0.5",
            "1",
            "0",
            "99%",
            "1e-30",
            "0.3",
            "none -> a#'\x00@b:{",
            "fn-free",
            "none",
            "2",
            "-2%",
        ]
    ),
)
CONDITIONS = (
    "n > 0.8 +/- 0.05",
    "-n < -0.8 +/- 5%",
    "n - o > 0.02 +/- 0.05",
    "d < 0.1 +/- 0.05",
    "(n - 1.1 * o) + d > 0.1 +/- 0.1 /\\ n > 0.7 +/- .1",
)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(almost_conditions, st.sampled_from(CONDITIONS), st.text(max_size=30)),
    st.fixed_dictionaries({name: texts for name in FIELDS if name != "condition"}),
)
def test_any_text_gives_a_plan_or_an_error_and_a_script_that_reads_the_same(
    condition: str, others: dict[str, str]
) -> None:
    found = explore({"condition": condition, **others})
    if isinstance(found, FieldError):
        assert found.field in FIELDS
        if found.column is not None:
            assert found.text is not None
            assert 0 <= found.column <= len(found.text)
            assert "\n" not in found.text
    else:
        assert parse_script(found.script_text) == found.script


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(CONDITIONS),
    st.decimals(min_value="0.5", max_value="0.9999", places=6),
    st.integers(1, 64),
    st.sampled_from(["full", "none", "firstChange", "hybrid", "none -> owner@example.org"]),
    st.sampled_from(["fp-free", "fn-free"]),
    st.sampled_from(["", "90 %", "0.999"]),
    st.sampled_from(["", "0.05", "20%"]),
)
def test_the_script_to_copy_is_the_script_that_was_planned(
    condition: str,
    reliability: object,
    steps: int,
    adaptivity: str,
    mode: str,
    sensitivity: str,
    difference: str,
) -> None:
    found = explored(
        condition=condition,
        reliability=str(reliability),
        steps=str(steps),
        adaptivity=adaptivity,
        mode=mode,
        sensitivity=sensitivity,
        difference=difference,
    )
    assert parse_script(found.script_text) == found.script
    assert "\\u" not in found.script_text


def test_measures_are_explored_with_classes_and_expected_shares() -> None:
    """The script to copy has them, and none of the curves fails."""
    found = explored(
        condition="recall(*) > 0.8 +/- 0.05", classes="fraud, legit", expected="fraud: 20%"
    )
    assert found.script.classes == ("fraud", "legit")
    assert parse_script(found.script_text).clauses == found.script.clauses
    assert parse_script(found.script_text).expected == found.script.expected
    assert found.pass_curve is not None
    assert found.tolerance_curve is not None
    applied = {method.estimator for method in found.methods if method.estimate.applies}
    assert applied == {Estimator.EXACT, Estimator.SEQUENTIAL}


def test_a_measure_that_makes_no_sense_is_shown_with_its_place() -> None:
    wrong = refused(condition="recall(*) > 0.8 +/- 0.05")
    assert (wrong.field, wrong.column) == ("condition", 0)
