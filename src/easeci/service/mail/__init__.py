"""Mail: composes the letters that the ledger has queued, and sends them."""
