"""Reads a posted body just far enough to label it and to take the credentials out, without ever refusing it."""

import json

from gateways.evolution.payloads import instance_of, labels_of, strip_credentials
from status_ingest.domain.arrivals import Fault, Reading, scrub, text_of


def read_body(body: bytes | None, *, instance_hint: str | None = None, is_stale: bool = False) -> Reading:
    """Read a body; None stands for one beyond the bound. `is_stale`: it came with a credential long expired."""
    if body is None:
        return Reading(fault=Fault.TOO_LARGE)
    if not body.strip():
        return Reading(plaintext=b"", size_bytes=len(body), fault=Fault.EMPTY)
    try:
        payload = json.loads(text_of(body))
    except (ValueError, RecursionError):
        return Reading(plaintext=scrub(body), size_bytes=len(body), fault=Fault.NOT_JSON)
    event, _ = labels_of(payload)
    return Reading(
        event=event,
        instance=instance_of(payload, instance_hint=instance_hint),
        plaintext=json.dumps(strip_credentials(payload), separators=(",", ":")).encode("ascii"),
        size_bytes=len(body),
        fault=Fault.CREDENTIAL_EXPIRED if is_stale else None,
    )
