"""When keys were last used, an index for what one number sent, and an end for old entries in the log of changes."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

REFUSED = "RAISE EXCEPTION 'the log of changes is only added to'"


def upgrade() -> None:
    """The log still refuses every change; of its end only entries go that are older than the deleting job says."""
    op.create_table(
        "api_key_uses",
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["api.api_keys.id"], name="fk_api_key_uses_key_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_key_uses"),
        schema="api",
        postgresql_with={"fillfactor": 70},
    )
    op.create_index(
        "ix_messages_number",
        "messages",
        ["number_id", sa.text("accepted_at DESC"), sa.text("id DESC")],
        unique=False,
        schema="api",
    )
    op.execute("DROP TRIGGER audit_entries_are_only_added ON api.audit_entries")
    op.execute(
        "CREATE FUNCTION api.refuse_to_forget() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "DECLARE days int := nullif(current_setting('pilot.audit_kept_days', true), '')::int; BEGIN "
        f"IF days IS NULL OR days < 30 OR OLD.at >= clock_timestamp() - make_interval(days => days) THEN {REFUSED}; "
        "END IF; RETURN OLD; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_entries_are_only_added BEFORE UPDATE OR TRUNCATE ON api.audit_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION api.refuse_to_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER audit_entries_are_kept BEFORE DELETE ON api.audit_entries "
        "FOR EACH ROW EXECUTE FUNCTION api.refuse_to_forget()"
    )


def downgrade() -> None:
    """Put the stricter trigger back."""
    op.execute("DROP TRIGGER audit_entries_are_kept ON api.audit_entries")
    op.execute("DROP TRIGGER audit_entries_are_only_added ON api.audit_entries")
    op.execute("DROP FUNCTION api.refuse_to_forget()")
    op.execute(
        "CREATE TRIGGER audit_entries_are_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON api.audit_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION api.refuse_to_rewrite()"
    )
    op.drop_index("ix_messages_number", table_name="messages", schema="api")
    op.drop_table("api_key_uses", schema="api")
