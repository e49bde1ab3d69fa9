"""Testsets at rest: examples, labels, the secret order. Only the vault opens labels.

It knows nothing of the record: what it stores it answers with digests for whoever keeps one, and
what it reads it verifies against them.
"""

from easeci.vault.intake import Offered, load_offered, review
from easeci.vault.journal import Journal
from easeci.vault.key import Key
from easeci.vault.label_files import LabelsReceived
from easeci.vault.paths import Vault, open_vault
from easeci.vault.sealing import Overlap, Seal, overlaps, seal
from easeci.vault.testset import SealedTestset, StoredPredictions
from easeci.vault.tickets import Tickets
from easeci.vault.verify import damage, store_damage

__all__ = [
    "Journal",
    "Key",
    "LabelsReceived",
    "Offered",
    "Overlap",
    "Seal",
    "SealedTestset",
    "StoredPredictions",
    "Tickets",
    "Vault",
    "damage",
    "load_offered",
    "open_vault",
    "overlaps",
    "review",
    "seal",
    "store_damage",
]
