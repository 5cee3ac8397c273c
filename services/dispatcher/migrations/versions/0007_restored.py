"""A schema that was restored from a dump is noticed."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SCHEMA = "dispatcher"


def upgrade() -> None:
    """A heartbeat from before this proves nothing either way."""
    op.add_column("heartbeat", sa.Column("written_by", sa.BigInteger(), nullable=True), schema=SCHEMA)
    op.add_column("heartbeat", sa.Column("restored_at", sa.DateTime(timezone=True), nullable=True), schema=SCHEMA)


def downgrade() -> None:
    """Restores are not noticed any more."""
    op.drop_column("heartbeat", "restored_at", schema=SCHEMA)
    op.drop_column("heartbeat", "written_by", schema=SCHEMA)
