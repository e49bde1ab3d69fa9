"""The migrations lead to the schema that the code expects."""

from __future__ import annotations

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.chain import start
from easeci.store.store import Store
from tests.histories import KEY
from tests.integration.store.records import RECORDS, again


def test_the_migrations_lead_to_the_schema(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from easeci.store.schema import REVISION, metadata

    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == REVISION


def test_a_store_of_a_newer_version_is_refused_and_untouched(store: Store) -> None:
    store.append("p", start(KEY, "p"), RECORDS)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InfrastructureError, match="newer easeci") as error:
        again(store)
    assert "Upgrade" in str(error.value)
    assert store.records("p") == RECORDS
