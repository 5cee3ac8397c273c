"""What receipts say about messages and numbers, and since when nobody worked."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SCHEMA = "dispatcher"


def upgrade() -> None:
    """Nothing is known of what left before: it counts neither for nor against its number for long."""
    instant = sa.DateTime(timezone=True)
    op.add_column("lanes", sa.Column("silent_since", instant), schema=SCHEMA)
    op.add_column("jobs", sa.Column("receipt", sa.Text()), schema=SCHEMA)
    op.add_column("jobs", sa.Column("receipt_at", instant), schema=SCHEMA)
    op.create_index(
        "ix_jobs_sent",
        "jobs",
        ["instance", "cold", "finished_at"],
        schema=SCHEMA,
        postgresql_where=sa.text("state = 'DISPATCHED'"),
    )
    op.create_table(
        "heartbeat",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("beat_at", instant, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_heartbeat")),
        schema=SCHEMA,
        postgresql_with={
            "autovacuum_vacuum_scale_factor": 0,
            "autovacuum_vacuum_threshold": 200,
            "autovacuum_vacuum_insert_scale_factor": 0,
            "autovacuum_vacuum_insert_threshold": 1000,
            "autovacuum_vacuum_cost_delay": 0,
            "fillfactor": 50,
        },
    )
    op.create_table(
        "outages",
        sa.Column("began_at", instant, nullable=False),
        sa.Column("ended_at", instant, nullable=False),
        sa.PrimaryKeyConstraint("began_at", name=op.f("pk_outages")),
        schema=SCHEMA,
    )


def downgrade() -> None:
    """Forget it."""
    op.drop_table("outages", schema=SCHEMA)
    op.drop_table("heartbeat", schema=SCHEMA)
    op.drop_index("ix_jobs_sent", table_name="jobs", schema=SCHEMA)
    op.drop_column("jobs", "receipt_at", schema=SCHEMA)
    op.drop_column("jobs", "receipt", schema=SCHEMA)
    op.drop_column("lanes", "silent_since", schema=SCHEMA)
