"""Where events are kept: SQLAlchemy Core on SQLite, several projects in one store."""

from easeci.store.access import Access, SessionRow, TokenRow
from easeci.store.store import Store

__all__ = ["Access", "SessionRow", "Store", "TokenRow"]
