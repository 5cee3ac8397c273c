"""A call that stays unanswered no longer holds its lane's place."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

SCHEMA = "dispatcher"


def upgrade() -> None:
    """Calls under way hold their places, as before; the index is of the few that do not."""
    op.add_column(
        "jobs",
        sa.Column("place_given_up", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        schema=SCHEMA,
    )
    op.create_index(
        "ix_jobs_given_up",
        "jobs",
        ["instance"],
        schema=SCHEMA,
        postgresql_where=sa.text("state = 'IN_FLIGHT' AND place_given_up"),
    )


def downgrade() -> None:
    """Whoever comes before this frees a place with every call that ends, which never goes below none."""
    op.drop_index("ix_jobs_given_up", table_name="jobs", schema=SCHEMA)
    op.drop_column("jobs", "place_given_up", schema=SCHEMA)
