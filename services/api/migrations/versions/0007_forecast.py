"""What the first answer to an idempotency key expected, so that a repeat is answered the same."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A nullable column: replicas of before the change go on without it."""
    op.add_column(
        "idempotency_keys", sa.Column("estimated_dispatch_at", sa.DateTime(timezone=True), nullable=True), schema="api"
    )


def downgrade() -> None:
    """Repeats are answered without it."""
    op.drop_column("idempotency_keys", "estimated_dispatch_at", schema="api")
