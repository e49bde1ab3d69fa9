"""Testsets at rest: examples, labels, the secret order. Only the vault opens labels.

It knows nothing of the record: what it stores it answers with digests for whoever keeps one, and
what it reads it verifies against them.
"""

from easeci.vault.journal import Journal
from easeci.vault.key import Key
from easeci.vault.paths import Vault, open_vault
from easeci.vault.testset import SealedTestset
from easeci.vault.tickets import Tickets
from easeci.vault.verify import damage, store_damage

__all__ = [
    "Journal",
    "Key",
    "SealedTestset",
    "Tickets",
    "Vault",
    "damage",
    "open_vault",
    "store_damage",
]
