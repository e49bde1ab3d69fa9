"""Mail: what is queued in the ledger, written and sent."""
