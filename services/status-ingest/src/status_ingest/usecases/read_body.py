"""Reads a posted body just far enough to label it and to take the credentials out, without ever refusing it."""

import json

from gateways.evolution.payloads import instance_of, labels_of, speaks_for_another, strip_credentials
from status_ingest.domain.arrivals import Fault, Reading, scrub, text_of


def read_body(
    body: bytes | None, *, number: str | None = None, instance_hint: str | None = None, is_stale: bool = False
) -> Reading:
    """Read a body; None stands for one beyond the bound. `is_stale`: it came with a credential long expired.

    `number` is the only one its sender may speak for: an event about another is kept, and not believed.
    """
    if body is None:
        return Reading(instance=number, fault=Fault.TOO_LARGE)
    if not body.strip():
        return Reading(instance=number, plaintext=b"", size_bytes=len(body), fault=Fault.EMPTY)
    try:
        payload = json.loads(text_of(body))
    except (ValueError, RecursionError):
        return Reading(instance=number, plaintext=scrub(body), size_bytes=len(body), fault=Fault.NOT_JSON)
    event, _ = labels_of(payload)
    fault = Fault.CREDENTIAL_EXPIRED if is_stale else None
    return Reading(
        event=event,
        instance=number or instance_of(payload, instance_hint=instance_hint),
        plaintext=json.dumps(strip_credentials(payload), separators=(",", ":")).encode("ascii"),
        size_bytes=len(body),
        fault=Fault.FOREIGN_INSTANCE if number is not None and speaks_for_another(payload, number) else fault,
    )
