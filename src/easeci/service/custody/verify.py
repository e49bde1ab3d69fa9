"""Whether the store is sound: events, labels, examples, orders, predictions and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from easeci.ledger.chain import find_damage
from easeci.ledger.fold import fold
from easeci.ledger.state import State, Step, Testset
from easeci.ledger.verdicts import RecordedVerdict, differences, record_of
from easeci.script import Mode
from easeci.service.project import Project, chain_key, load_ledger
from easeci.store.store import Store
from easeci.vault.key import Key
from easeci.vault.paths import Vault
from easeci.vault.verify import attached_files, damage, store_damage


def verify(project: Project) -> list[str]:
    """Every damage to events, labels, examples, orders and predictions; one sentence for each.

    If there is none, every recorded verdict is decided again.
    """
    found = _database_damage(project.store)
    ledger = load_ledger(project.store, project.name, project.head_note)
    chain = find_damage(chain_key(project.vault), project.name, ledger.records, ledger.head)
    if chain is not None:
        return [*found, chain]
    found += [] if ledger.older is None else [ledger.older]
    found += store_damage(project.store.folder)
    found += damage(project.vault, _expected(project.state))
    return found or _changed_verdicts(project)


def projects_damage(store: Store, key: Key, vaults: Path) -> list[str]:
    """Every damage to any project of a store; ``vaults`` is the folder of their vaults."""
    found = _database_damage(store)
    for name in store.projects():
        vault = Vault(vaults / name, key)
        records, head = store.ledger(name)
        chain = find_damage(chain_key(vault), name, records, head)
        found += [chain] if chain else damage(vault, _expected(fold(records)))
    return found


def recorded_files(store: Store, key: Key, vaults: Path) -> Iterator[tuple[Path, str]]:
    """Every file that the events of any project speak of, with its digest."""
    for name in store.projects():
        vault = Vault(vaults / name, key)
        for number, digests in _expected(fold(store.records(name))).items():
            folder = vault.testset_folder(number)
            for file, digest in (digests | attached_files(folder, digests)).items():
                yield folder / file, digest


def _changed_verdicts(project: Project) -> list[str]:
    """Every recorded answer that does not follow from what is recorded; each is decided again."""
    return [
        f"step {step.number:,} of testset {testset.number}: {sentence}"
        for testset in project.state.testsets.values()
        for step in testset.steps
        for sentence in _wrong(project, testset, step)
    ]


def _wrong(project: Project, testset: Testset, step: Step) -> list[str]:
    """What does not follow from the labels and predictions that are recorded."""
    found = []
    if step.number > testset.script.steps:
        found.append("the script allows fewer steps")
    if step.verdict is not None:
        found += _wrong_verdict(project, testset, step, step.verdict)
    elif step.passed is not None and not _explained(project.state, testset, step):
        found.append("its answer has no verdict, and nothing else explains it")
    return found


def _explained(state: State, testset: Testset, step: Step) -> bool:
    """Whether a step may be answered without a verdict: adopted as the baseline, or failed."""
    if step.passed:
        return step.adopted or (step.at_tick and testset.script.mode is Mode.FN_FREE)
    failed = state.submission(step.submission).run_failure is not None
    uncompared = testset.script.needs_old_model and step.baseline is None
    return failed or step.at_tick or uncompared


def _wrong_verdict(
    project: Project, testset: Testset, step: Step, recorded: RecordedVerdict
) -> list[str]:
    """How a recorded verdict differs from what its labels and predictions lead to."""
    from easeci.service.commits.advance import verdict_of

    found = differences(recorded, record_of(verdict_of(project, testset, step)))
    unknown_passes = testset.script.mode is Mode.FN_FREE
    if step.passed is not (unknown_passes if step.at_tick else recorded.passed):
        found.append("its answer is not that of its verdict")
    return found


def _database_damage(store: Store) -> list[str]:
    broken = store.damage()
    return [] if broken is None else [broken]


def _expected(state: State) -> dict[int, dict[str, str]]:
    return {number: testset.files for number, testset in state.testsets.items()}
