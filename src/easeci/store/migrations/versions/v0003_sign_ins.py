"""Signing in and out, and tokens whose removal is not recorded in the chain yet."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "sign_in",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Integer, sa.ForeignKey("project.id"), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("what", sa.String(16), nullable=False),
        sa.Column("after", sa.Integer, nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
    )
    op.create_table(
        "removed_token",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Integer, sa.ForeignKey("project.id"), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("by", sa.String(100), nullable=False),
    )


def downgrade() -> None:
    """Remove them."""
    op.drop_table("removed_token")
    op.drop_table("sign_in")
