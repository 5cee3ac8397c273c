"""What reading needs: when a message was canceled, and an index for each way messages are listed."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NEWEST = [sa.text("accepted_at DESC"), sa.text("id DESC")]
OPEN = "dispatched_at IS NULL AND failed_at IS NULL AND canceled_at IS NULL"
UNSENT = "(failed_at IS NOT NULL OR canceled_at IS NOT NULL)"


def upgrade() -> None:
    """Add them."""
    op.add_column("messages", sa.Column("canceled_at", sa.DateTime(timezone=True), nullable=True), schema="api")
    _index("ix_messages_newest", ["project_id", *NEWEST])
    _index("ix_messages_recipient", ["project_id", "recipient_hash", *NEWEST])
    _index("ix_messages_open", ["project_id", *NEWEST], where=OPEN)
    _index("ix_messages_unsent", ["project_id", *NEWEST], where=UNSENT)
    _index(
        "ix_messages_history",
        ["number_id", sa.text("dispatched_at DESC"), sa.text("id DESC")],
        where="dispatched_at IS NOT NULL",
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("newest", "recipient", "open", "unsent", "history"):
        op.drop_index(f"ix_messages_{name}", table_name="messages", schema="api")
    op.drop_column("messages", "canceled_at", schema="api")


def _index(name: str, columns: list[str | sa.TextClause], *, where: str | None = None) -> None:
    op.create_index(
        name,
        "messages",
        columns,
        unique=False,
        schema="api",
        postgresql_where=sa.text(where) if where else None,
    )
