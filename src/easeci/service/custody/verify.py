"""Whether the store is sound: events, labels, examples, orders and predictions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from easeci.ledger.chain import find_damage
from easeci.ledger.fold import fold
from easeci.ledger.state import State
from easeci.service.project import Project, chain_key, load_ledger
from easeci.store.store import Store
from easeci.vault.key import Key
from easeci.vault.paths import Vault
from easeci.vault.verify import attached_files, damage, store_damage


def verify(project: Project) -> list[str]:
    """Every damage to events, labels, examples, orders and predictions; one sentence for each."""
    found = _database_damage(project.store)
    ledger = load_ledger(project.store, project.name, project.head_note)
    chain = find_damage(chain_key(project.vault), project.name, ledger.records, ledger.head)
    if chain is not None:
        return [*found, chain]
    found += [] if ledger.older is None else [ledger.older]
    return [
        *found,
        *store_damage(project.store.folder),
        *damage(project.vault, _expected(project.state)),
    ]


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


def _database_damage(store: Store) -> list[str]:
    broken = store.damage()
    return [] if broken is None else [broken]


def _expected(state: State) -> dict[int, dict[str, str]]:
    return {number: testset.files for number, testset in state.testsets.items()}
