"""The tables. Migrations (:mod:`easeci.store.migrations`) bring an older store to this schema."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table, Text, UniqueConstraint

REVISION = "0003"
"""The migration that leads to this schema."""

metadata = MetaData()

project = Table(
    "project",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("head_number", Integer, nullable=False),
    Column("head_code", String(64), nullable=False),
)

event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("at", String(32), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("code", String(64), nullable=False),
    # Of two writers that both append after the same head, the second is refused.
    UniqueConstraint("project_id", "number"),
)

token = Table(
    "token",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("name", String(100), nullable=False),
    Column("role", String(16), nullable=False),
    # The token itself is not kept.
    Column("digest", String(64), nullable=False, unique=True),
    Column("at", String(32), nullable=False),
    UniqueConstraint("project_id", "name"),
)

session = Table(
    "session",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    # Removing a token removes its sessions. The owner at this machine needs no token.
    Column("token_id", Integer, ForeignKey("token.id", ondelete="CASCADE")),
    Column("name", String(100), nullable=False),
    Column("role", String(16), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("until", String(32), nullable=False),
)

removed_token = Table(
    "removed_token",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("name", String(100), nullable=False),
    Column("by", String(100), nullable=False),
)
"""Tokens that are removed already, until that is an event of the chain."""

sign_in = Table(
    "sign_in",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("at", String(32), nullable=False),
    Column("name", String(100), nullable=False),
    Column("role", String(16), nullable=False),
    Column("what", String(16), nullable=False),
    # The number of the last event then.
    Column("after", Integer, nullable=False),
    Column("address", String(64), nullable=False),
)
