"""The api's schema: its metadata, outbox and inbox; each resource adds its own tables."""

from chassis.inbox import inbox_table
from chassis.migrations import schema_metadata
from chassis.outbox import outbox_table

METADATA = schema_metadata("api")
OUTBOX = outbox_table(METADATA)
INBOX = inbox_table(METADATA)
