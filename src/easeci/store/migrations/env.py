"""Run by alembic: applies the migrations on the connection that the store holds."""

from alembic import context

from easeci.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
