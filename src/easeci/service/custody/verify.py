"""Whether the store is sound: events, labels, examples, orders and predictions."""

from __future__ import annotations

from easeci.ledger.chain import find_damage
from easeci.service.project import Project, chain_key
from easeci.vault.verify import damage, store_damage


def verify(project: Project) -> list[str]:
    """Every damage to events, labels, examples, orders and predictions; one sentence for each."""
    found = []
    broken = project.store.damage()
    if broken is not None:
        found.append(broken)
    records, head = project.store.ledger(project.name)
    chain = find_damage(chain_key(project.vault), project.name, records, head)
    if chain is not None:
        return [*found, chain]
    expected = {number: testset.files for number, testset in project.state.testsets.items()}
    return [*found, *store_damage(project.store.folder), *damage(project.vault, expected)]
