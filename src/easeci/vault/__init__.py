"""Testsets at rest: examples, labels, the secret order. Only the vault opens labels.

The vault knows nothing of the ledger. It returns digests of what it stores, for the ledger to
record, and verifies what it reads against them.
"""
