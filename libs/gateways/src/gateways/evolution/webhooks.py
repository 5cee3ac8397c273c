"""Translates Evolution's webhooks, in every shape seen from v1 to v2.4, into observations: pure, total, order-free."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gateways.evolution.echoes import read_echo
from gateways.evolution.events import canonical_event
from gateways.evolution.jids import lid_in, phone_in, phone_of
from gateways.evolution.payloads import instance_of
from gateways.evolution.reply import is_key_id
from gateways.evolution.statuses import EvolutionStatus, parse_status, receipt_status
from gateways.port import Alias, ConnectionChange, ConnectionState, Ignored, Observation, Receipt, Unreadable

ITEMS_MAX = 1_000

_DISCONNECT_CODE = re.compile(r"[0-9]{3}")
_STATES = {
    "open": ConnectionState.OPEN,
    "connecting": ConnectionState.CONNECTING,
    "close": ConnectionState.CLOSE,
    "closed": ConnectionState.CLOSE,
    "refused": ConnectionState.CLOSE,
}


def translate(payload: object, *, instance_hint: str | None = None) -> Sequence[Observation]:
    """What a webhook body says, at least one observation; never raises. The hint stands in for a missing instance."""
    if not isinstance(payload, Mapping):
        return (Unreadable(reason="not_an_object"),)
    if payload.get("event") is None:
        return (Unreadable(reason="event_missing"),)
    event = canonical_event(payload["event"])
    if event is None:
        return (Ignored(reason="event_unknown"),)
    read = _READERS.get(event)
    if read is None:
        return (Ignored(reason=f"event_{event.replace('.', '_').replace('-', '_')}"),)
    data, own = payload.get("data"), phone_of(payload.get("sender"))
    instance = instance_of(payload, instance_hint=instance_hint) or instance_of(data)
    if instance is None:
        return tuple(_homeless_receipts(data)) if event == "messages.update" else (NOBODYS,)
    said = tuple(read(instance, data))
    return (*said, *_aliases(instance, data, own)) if event in _ABOUT_MESSAGES else said


def _homeless_receipts(data: object) -> Iterator[Observation]:
    """The gateway did not say of which number: only the key can tell."""
    yield from _each(data, lambda item: _receipt(None, item))


def _receipts(instance: str, data: object) -> Iterator[Observation]:
    yield from _each(data, lambda item: _receipt(instance, item))


def _echoes(instance: str, data: object) -> Iterator[Observation]:
    yield from _each(data, lambda item: read_echo(instance, item))


def _each(data: object, read: Callable[[Mapping[str, object]], Observation]) -> Iterator[Observation]:
    """One observation per item: `data` is one object in v2, a list in Baileys' own shape."""
    items = data if isinstance(data, list) else [data]
    if not items:
        yield Ignored(reason="empty")
    for item in items[:ITEMS_MAX]:
        yield read(item) if isinstance(item, Mapping) else Unreadable(reason="data_not_an_object")
    if len(items) > ITEMS_MAX:
        yield Unreadable(reason="too_many_items")


def _aliases(instance: str, data: object, own: str | None) -> Iterator[Alias]:
    """People named both ways; not by the number's `own` phone, which is the sender's and not the chat's."""
    for item in (data if isinstance(data, list) else [data])[:ITEMS_MAX]:
        if isinstance(item, Mapping):
            holders = (item.get("key"), item)
            lid, phone = lid_in(*holders), phone_in(*holders)
            if lid is not None and phone is not None and phone != own:
                yield Alias(instance=instance, lid=lid, phone=phone)


def _receipt(instance: str | None, item: Mapping[str, object]) -> Observation:
    key_id = _key_id(item)
    if key_id is None:
        return Unreadable(reason="key_missing")
    if _from_other(item):
        return Ignored(reason="not_from_me")
    value = _status_value(item)
    if value is None:
        return Ignored(reason="status_missing")
    status = parse_status(value)
    if status is None:
        return Ignored(reason="status_unknown")
    # 2.3.7 fills a missing status with SERVER_ACK; an edit is recognised by the new message it carries.
    if status is EvolutionStatus.SERVER_ACK and _carries_a_message(item):
        return Ignored(reason="status_of_an_edit")
    progress = receipt_status(status)
    if progress is None:
        return Ignored(reason=f"status_{status.lower()}")
    return Receipt(instance=instance, key_id=key_id, status=progress)


def _carries_a_message(item: Mapping[str, object]) -> bool:
    update = item.get("update")
    holders = (item, update) if isinstance(update, Mapping) else (item,)
    return any(holder.get("message") is not None for holder in holders)


def _key_id(item: Mapping[str, object]) -> str | None:
    """WhatsApp's id: `keyId`, `key.id`, or v1's `id`; beside a `messageId`, a row of the gateway, `id` is a row too."""
    key = item.get("key")
    nested = key.get("id") if isinstance(key, Mapping) else None
    candidates = [item.get("keyId"), nested]
    if "messageId" not in item:
        candidates.append(item.get("id"))
    return next((value for value in candidates if isinstance(value, str) and is_key_id(value)), None)


def _from_other(item: Mapping[str, object]) -> bool:
    """Only an explicit no counts: Baileys' own shape may leave `fromMe` out."""
    key = item.get("key")
    nested = key.get("fromMe") if isinstance(key, Mapping) else None
    return any(value is False or value == "false" for value in (item.get("fromMe"), nested))


def _status_value(item: Mapping[str, object]) -> object:
    update = item.get("update")
    nested = update.get("status") if isinstance(update, Mapping) else None
    own = item.get("status")
    return nested if own is None else own


def _connection(instance: str, data: object) -> Iterator[Observation]:
    state = data.get("state", data.get("status")) if isinstance(data, Mapping) else None
    known = _STATES.get(state) if isinstance(state, str) else None
    if known is None or not isinstance(data, Mapping):
        yield Unreadable(reason="state_unknown")
        return
    code = data.get("statusReason", data.get("disconnectionReasonCode"))
    reason = "refused" if state == "refused" else _reason(code)
    yield ConnectionChange(instance=instance, state=known, reason=reason)


def _reason(code: object) -> str | None:
    """Baileys' disconnect code as a bounded word; 200 only says that all is well."""
    if isinstance(code, str) and _DISCONNECT_CODE.fullmatch(code):
        code = int(code)
    return str(code) if isinstance(code, int) and 100 <= code <= 999 and code != 200 else None


def _logged_out(instance: str, _: object) -> Iterator[Observation]:
    yield ConnectionChange(instance=instance, state=ConnectionState.CLOSE, reason="logout")


def _removed(instance: str, _: object) -> Iterator[Observation]:
    yield ConnectionChange(instance=instance, state=ConnectionState.CLOSE, reason="removed")


NOBODYS = Unreadable(reason="instance_missing")
_ABOUT_MESSAGES = frozenset({"messages.update", "send.message"})
_READERS: Mapping[str, Callable[[str, object], Iterator[Observation]]] = {
    "messages.update": _receipts,
    "send.message": _echoes,
    "connection.update": _connection,
    "status.instance": _connection,
    "logout.instance": _logged_out,
    "remove.instance": _removed,
    "instance.delete": _removed,
}
