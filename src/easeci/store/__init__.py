"""Where events are kept: SQLAlchemy Core on SQLite, several projects in one store."""
