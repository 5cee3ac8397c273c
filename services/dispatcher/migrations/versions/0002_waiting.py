"""An index to count what waits in one lane."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create it."""
    op.create_index(
        "ix_jobs_waiting",
        "jobs",
        ["instance", "priority", "state"],
        unique=False,
        schema="dispatcher",
        postgresql_where=sa.text("state IN ('SCHEDULED', 'UNCERTAIN')"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_jobs_waiting", table_name="jobs", schema="dispatcher")
