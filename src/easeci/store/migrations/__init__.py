"""Alembic migrations, one module for each change of the schema."""
