"""Testsets: what is sealed, what is refused, and labels that come later."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from easeci.errors import DataError, ScriptError, UsageError
from easeci.plan import plan
from easeci.script import Estimator
from easeci.service.project import Project, open_project
from easeci.service.scripts import load_script
from easeci.service.testsets.add import Added, Offer, add_testset
from easeci.service.testsets.retire import retire_testset
from tests.repositories import EXAMPLES, SAMPLE, SEALED, Workplace, write_examples


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    return place


def opened(place: Workplace) -> Project:
    return open_project(place.repository, create=True)


def add(place: Workplace, **options: object) -> Added:
    script = place.repository / ".easeci.yml"
    return add_testset(opened(place), Offer(place.examples, script=script, **options))  # type: ignore[arg-type]


def test_what_the_plan_needs_is_said(place: Workplace) -> None:
    """What counts is what is left after the sample was set aside."""
    added = add(place, labels=place.labels)
    assert (added.examples, added.labels, added.sample) == (SEALED, SEALED, SAMPLE)
    assert added.testset == 1
    assert added.needed is not None
    assert added.needed <= SEALED
    assert added.sensitivity_left is None
    testset = opened(place).state.testsets[1]
    assert (testset.examples, testset.labels) == (SEALED, SEALED)


def test_a_testset_that_is_too_small_is_refused_with_how_many_are_missing(place: Workplace) -> None:
    """The message says what to bring in all, and bringing that is enough; one less is not."""
    write_examples(place.examples, place.labels, size=1000)
    with pytest.raises(DataError) as error:
        add(place)
    assert error.value.message == (
        "the testset is too small: the plan needs 1,429 sealed examples (sequential), and 950 are "
        "left of 1,000, 50 of them for the public sample"
    )
    assert "Bring 1,504 in all, the sample included: 504 are missing." in str(error.value)
    assert "--allow-smaller" in str(error.value)
    assert not opened(place).state.testsets
    write_examples(place.examples, place.labels, size=1503)
    with pytest.raises(DataError, match="1 are missing"):
        add(place)
    write_examples(place.examples, place.labels, size=1504)
    assert add(place).examples == 1429


@pytest.mark.parametrize("name", ["label", "Labels"])
def test_a_column_called_label_is_not_sealed_by_oversight(place: Workplace, name: str) -> None:
    """Models would see it: it is named as the labels, or kept on purpose. Labels of some examples,
    given beside it, say nothing of what it holds."""
    rows = place.examples.read_text().splitlines()
    columns = [f"id,x,{name}", *(f"{row},{'low' if row[-1] < '5' else 'high'}" for row in rows[1:])]
    place.examples.write_text("\n".join([*columns, ""]))
    for labels in (None, place.labels):
        with pytest.raises(DataError, match=f"column '{name}', and models would see it") as error:
            add(place, labels=labels)
        assert "--label-column" in str(error.value)
        assert "--keep-label-column" in str(error.value)
    assert not opened(place).state.testsets
    kept = add(place, keep_label_column=True)
    assert any(f"column '{name}' will be shown to programs" in text for text in kept.warnings)
    retire_testset(opened(place), "next")
    write_examples(place.examples, start=5000)
    rows = place.examples.read_text().splitlines()
    place.examples.write_text("\n".join([f"{rows[0]},{name}", *(f"{row},low" for row in rows[1:])]))
    named = add(place, label_column=name)
    assert (named.labels, named.warnings[0:1]) == (SEALED, ())


def test_slices_need_columns_of_the_examples(place: Workplace) -> None:
    """The owner hears it at sealing, and nothing is sealed."""
    for condition, message in (
        ("n[lang=de] > 0.5 +/- 0.1", "has no column 'lang', which the condition names"),
        ("n[x>=2] > 0.5 +/- 0.1", "no example is in the slice [x>=2]"),
        ("n[x=*] > 0.5 +/- 0.1", "column 'x' has 1,600 different values"),
        ("n[id=e1] > 0.5 +/- 0.1", "the ids cannot make slices"),
    ):
        place.write_script(condition=condition)
        with pytest.raises(DataError) as error:
            add(place, labels=place.labels)
        assert message in error.value.message
    assert not opened(place).state.testsets


def test_a_smaller_one_is_allowed_with_what_sensitivity_is_left(place: Workplace) -> None:
    """Less sensitivity is left of fewer examples."""
    write_examples(place.examples, place.labels, size=1300)
    added = add(place, allow_smaller=True)
    assert added.sensitivity_left is not None
    assert 0.0 < added.sensitivity_left < 0.9
    write_examples(place.examples, place.labels, size=1350, start=5000)
    retire_testset(opened(place), "next")
    more = add(place, allow_smaller=True)
    assert more.sensitivity_left is not None
    assert more.sensitivity_left > added.sensitivity_left


def test_the_same_examples_are_not_fresh(place: Workplace) -> None:
    """Whatever they are called, and in whatever order; nor are those of the sample."""
    add(place)
    retire_testset(opened(place), "by hand")
    rows = place.examples.read_text().splitlines()[1:]
    renamed = [f"other{i},{row.split(',')[1]}" for i, row in enumerate(reversed(rows))]
    place.examples.write_text("\n".join(["id,x", *renamed, ""]))
    with pytest.raises(DataError) as error:
        add(place)
    assert error.value.message == "all 1,600 examples were in testset 1"
    assert "add new examples" in str(error.value)


def test_ids_that_only_number_the_rows_are_explained(place: Workplace) -> None:
    """The same ids with other contents are left out, too, and the hint says why."""
    add(place)
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, start=9000)
    others = [row.split(",")[1] for row in place.examples.read_text().splitlines()[1:]]
    rows = [f"e{number},{x}" for number, x in enumerate(others)]
    place.examples.write_text("\n".join(["id,x", *rows, ""]))
    with pytest.raises(DataError, match="all 1,600 examples were in testset 1") as error:
        add(place)
    assert "give the examples of every testset ids of their own" in str(error.value)


@pytest.mark.parametrize(("shared", "warned"), [(15, False), (16, True)])
def test_overlap_is_left_out_and_told(place: Workplace, shared: int, warned: bool) -> None:
    """Above a hundredth of the examples there is a warning."""
    add(place)
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=EXAMPLES - shared, size=1590)
    added = add(place)
    assert added.left_out == shared
    assert [(found.testset, found.shared) for found in added.overlaps] == [(1, shared)]
    assert added.examples == 1590 - shared - added.sample
    warning = f"{shared} of 1,590 examples (1.0%) were left out"
    (*said,) = (text for text in added.warnings if warning in text)
    assert bool(said) == warned
    assert all(text.endswith("the guarantee is now about inputs unlike those") for text in said)
    assert opened(place).state.testsets[2].shared == {"1": shared}
    first, second = (opened(place).sealed(opened(place).state.testsets[n]) for n in (1, 2))
    for one, other in product((first, first.sample), (second, second.sample)):
        assert one is not None
        assert other is not None
        ids = [set(part.examples.ids.to_list()) for part in (one, other)]
        assert ids[0].isdisjoint(ids[1])


def test_too_few_examples_left_are_refused(place: Workplace) -> None:
    """What was left out counts for what has to be brought."""
    add(place)
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, start=EXAMPLES - 200, size=EXAMPLES)
    with pytest.raises(DataError) as error:
        add(place)
    assert "200 more were in earlier testsets" in error.value.message
    assert "Bring 1,704 in all, the sample included: 104 are missing." in str(error.value)


@pytest.mark.parametrize(
    ("labelled", "named", "estimator"),
    [
        ("all", None, "exact"),
        ("some", None, "sequential"),
        ("none", None, "sequential"),
        ("all", "sequential", "sequential"),
        ("none", "exact", "exact"),
    ],
)
def test_the_estimator_is_settled_at_sealing(
    place: Workplace, labelled: str, named: str | None, estimator: str
) -> None:
    """auto is exact only if every label was given; a named estimator stays."""
    place.write_script(estimator=named or "auto")
    if labelled == "some":
        place.labels.write_text("\n".join(place.labels.read_text().splitlines()[:-1]) + "\n")
    added = add(place, labels=None if labelled == "none" else place.labels)
    assert added.estimator == estimator
    testset = opened(place).state.testsets[1]
    assert (testset.estimator, testset.needed) == (estimator, added.needed)
    expected = plan(load_script(place.repository / ".easeci.yml")).estimate(Estimator(estimator))
    assert added.needed == expected.testset_size


def test_a_condition_without_labels_is_exact(place: Workplace) -> None:
    """It waits for no label, so nothing can change over."""
    place.write_script(condition="d < 0.2 +/- 0.1", estimator="auto")
    assert add(place).estimator == "exact"


def test_labels_outside_the_declared_classes_are_refused(place: Workplace) -> None:
    """Their number and the first spellings are named to the owner, and nothing is sealed."""
    place.write_script(classes="[Low, high]")
    with pytest.raises(DataError) as error:
        add(place, labels=place.labels)
    assert "of 1,600 labels are none of the declared classes: 'low'" in error.value.message
    assert "classes: of the script declares 'Low', 'high'." in str(error.value)
    assert not opened(place).state.testsets


def test_without_declared_classes_the_line_to_add_is_told(place: Workplace) -> None:
    """As it goes into the script; with it, there is nothing to tell."""
    added = add(place, labels=place.labels)
    assert added.classes_line == "classes: [high, low]"
    retire_testset(opened(place), "next")
    write_examples(place.examples, place.labels, start=9000)
    place.write_script(classes="[high, low]")
    assert add(place, labels=place.labels).classes_line is None


def test_the_command_says_what_was_set_aside_and_left_out(place: Workplace) -> None:
    """The public sample, the line for the classes, and the overlap with earlier testsets."""
    command = ("testset", "add", str(place.examples), "--labels", str(place.labels))
    first = place.easeci(*command, code=0).stdout
    words = " ".join(first.split())
    assert "80 more were set aside as the public sample: every build runs on them first" in words
    assert "The script declares no classes. To refuse other spellings, add this line:" in words
    assert "\n  - classes: [high, low]\n" in first
    assert "Left out" not in words
    place.easeci("testset", "retire", "--reason", "next", code=0)
    write_examples(place.examples, place.labels, start=EXAMPLES - 16, size=1590)
    second = place.easeci(*command, code=0)
    assert "Left out: 16 examples that were in testset 1." in " ".join(second.stdout.split())
    warned = " ".join(second.stderr.split())
    assert "because earlier testsets or their samples had them" in warned
    assert "the guarantee is now about inputs unlike those" in warned


def test_a_script_that_ignores_its_program_is_refused(place: Workplace) -> None:
    """Its checkouts would lack the program."""
    place.write_script(ignore="['*.py']")
    with pytest.raises(ScriptError, match=r"ignore: matches test_model\.py"):
        add(place)


@pytest.mark.parametrize(("wanted", "size"), [("0", 0), ("20", 20), ("1000", SAMPLE)])
def test_the_script_says_how_large_the_sample_is(place: Workplace, wanted: str, size: int) -> None:
    """At most 5% of the examples; with 0 there is none."""
    place.write_script(sample=wanted)
    added = add(place)
    assert (added.sample, added.examples) == (size, EXAMPLES - size)
    found = opened(place).sealed(opened(place).state.testsets[1]).sample
    assert (0 if found is None else found.size) == size


def test_one_testset_at_a_time(place: Workplace) -> None:
    add(place)
    write_examples(place.examples, place.labels, start=9000)
    with pytest.raises(UsageError, match="still in use"):
        add(place)


@pytest.mark.parametrize(
    ("keys", "words"),
    [({"adaptivity": "none"}, "needs an address"), ({"condition": "n * o > 1 +/- 1"}, "linear")],
)
def test_a_script_that_cannot_run_is_refused_at_once(
    place: Workplace, keys: dict[str, str], words: str
) -> None:
    place.write_script(**keys)
    with pytest.raises(ScriptError, match=words):
        add(place)
