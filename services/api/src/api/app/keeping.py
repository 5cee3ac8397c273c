"""What rests sealed in the api's tables, and what of them has an end."""

from api.erasures.tables import ERASURES
from api.messages.tables import IDEMPOTENCY_KEYS, MESSAGES
from api.numbers.tables import NUMBERS
from api.operators.tables import AUDIT_ENTRIES
from api.optins.tables import OPT_INS
from api.profiles.tables import PROFILES
from api.tables import OUTBOX
from chassis.retention import Kept
from chassis.sealed_columns import SealedColumn

SEALED = (
    SealedColumn(column=MESSAGES.c.sealed, aad=MESSAGES.c.id),
    SealedColumn(column=NUMBERS.c.sealed_access, aad=NUMBERS.c.id),
    SealedColumn(column=PROFILES.c.sealed_phone, aad=PROFILES.c.id),
    SealedColumn(column=OPT_INS.c.sealed_phone, aad=OPT_INS.c.id),
    SealedColumn(column=ERASURES.c.sealed_recipient, aad=ERASURES.c.id),
    SealedColumn(column=OUTBOX.c.body),
)

KEPT = (
    Kept(kind="idempotency_key", since=IDEMPOTENCY_KEYS.c.created_at),
    Kept(kind="audit_entry", since=AUDIT_ENTRIES.c.id),
    Kept(kind="open_erasure", since=ERASURES.c.look_at, where=ERASURES.c.completed_at.is_(None)),
)
