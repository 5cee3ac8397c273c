"""Asks Evolution's own memory what it sent and whether it is connected: evidence, never a reason to send by itself."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from gateways.evolution.echoes import moment_of, text_of
from gateways.evolution.exchange import AddressUnusableError, CallFailedError, EvolutionClient, build_request
from gateways.evolution.jids import phone_in, phone_jid
from gateways.evolution.reply import Reply, document, instance_unknown, key_id_of
from gateways.evolution.statuses import parse_status, receipt_status
from gateways.port import Access, ConnectionState, LookupFailedError, ReceiptStatus, StoredMessage
from gateways.recipients import recipient_variants, same_recipient

ANSWER_BYTES_MAX = 4 * 1024 * 1024
PAGE_SIZE_MAX = 50
PAGES_MAX = 10

_STATES = {
    "open": ConnectionState.OPEN,
    "connecting": ConnectionState.CONNECTING,
    "close": ConnectionState.CLOSE,
    "refused": ConnectionState.CLOSE,
}


class EvolutionLookup(EvolutionClient):
    """Implements `Lookup`."""

    async def sent_messages(
        self, access: Access, *, recipient: str, since: datetime, until: datetime, limit: int = 50
    ) -> Sequence[StoredMessage]:
        """Outbound messages to `recipient`, in either spelling of the number, newest first.

        The window is widened to whole seconds, the resolution of the store. Raises `LookupFailedError` rather than
        give an incomplete answer, because absence is read as evidence.
        """
        found: dict[str, StoredMessage] = {}
        for variant in recipient_variants(recipient):
            where = _where(variant, since=since, until=until)
            async for record in self._records(access, where, limit=limit):
                stored = _stored_message(record, recipient=recipient)
                if stored is not None and since - _SECOND < stored.sent_at < until + _SECOND:
                    found.setdefault(stored.key_id, stored)
        newest_first = sorted(found.values(), key=lambda message: message.sent_at, reverse=True)
        return tuple(newest_first[:limit])

    async def sent_message(self, access: Access, *, key_id: str) -> StoredMessage | None:
        """The outbound message with this id, whoever it went to; raises `LookupFailedError`."""
        body = {"where": {"key": {"id": key_id, "fromMe": True}}, "page": 1, "offset": 2}
        reply = await self._ask(access, "POST", "chat", "findMessages", access.instance, body=body)
        records, _ = _page(reply)
        stored = [_stored_message(record) for record in records]
        # The filter is a wish: an older gateway that ignored it would give any message.
        return next((message for message in stored if message is not None and message.key_id == key_id), None)

    async def connection_state(self, access: Access) -> ConnectionState | None:
        """Evolution's view of the connection (`open` may still be a dead socket); None for an unknown instance."""
        reply = await self._ask(access, "GET", "instance", "connectionState", access.instance)
        if instance_unknown(reply):
            return None
        body = _expect(reply, status=200)
        instance = body.get("instance")
        if not isinstance(instance, Mapping):
            raise LookupFailedError("the connection state has no instance")
        state = instance.get("state")
        if state is None:  # in the database, not yet loaded into memory
            return ConnectionState.CONNECTING
        known = _STATES.get(state) if isinstance(state, str) else None
        if known is None:
            raise LookupFailedError("the connection state is a word we do not know")
        return known

    async def _records(self, access: Access, where: Mapping[str, object], *, limit: int) -> AsyncIterator[object]:
        """The stored records, newest first, at most `limit` of them."""
        size = max(1, min(limit, PAGE_SIZE_MAX))
        given = 0
        for page in range(1, PAGES_MAX + 1):
            body = {"where": where, "page": page, "offset": size}
            reply = await self._ask(access, "POST", "chat", "findMessages", access.instance, body=body)
            records, pages = _page(reply)
            for record in records:
                yield record
            given += len(records)
            if given >= limit or page >= pages or not records:
                return
        raise LookupFailedError("more pages than we are willing to read")

    async def _ask(self, access: Access, method: str, *path: str, body: Mapping[str, object] | None = None) -> Reply:
        try:
            request = build_request(access, method, *path, body=body)
            return await self._query(request, body_bytes_max=ANSWER_BYTES_MAX)
        except (AddressUnusableError, CallFailedError) as error:
            raise LookupFailedError(f"the call failed: {error}") from None


_SECOND = timedelta(seconds=1)


def _where(recipient: str, *, since: datetime, until: datetime) -> Mapping[str, object]:
    """Time bounds count only as a pair of ISO texts; `remoteJid` and `remoteJidAlt` are OR-ed, so give both the JID."""
    jid = phone_jid(recipient)
    return {
        "key": {"fromMe": True, "remoteJid": jid, "remoteJidAlt": jid},
        "messageTimestamp": {"gte": _iso(since), "lte": _iso(until + _SECOND)},
    }


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _expect(reply: Reply, *, status: int) -> Mapping[str, object]:
    body = document(reply)
    if reply.status != status or not isinstance(body, Mapping):
        raise LookupFailedError(f"HTTP {reply.status} with an answer we cannot use")
    return body


def _page(reply: Reply) -> tuple[list[object], int]:
    messages = _expect(reply, status=200).get("messages")
    records = messages.get("records") if isinstance(messages, Mapping) else None
    pages = messages.get("pages") if isinstance(messages, Mapping) else None
    if not isinstance(records, list) or not isinstance(pages, int):
        raise LookupFailedError("the page of messages has no records")
    return records, pages


def _stored_message(record: object, *, recipient: str | None = None) -> StoredMessage | None:
    """A record as a value; None if it is not an outbound message, or not to `recipient` if one is named."""
    key = record.get("key") if isinstance(record, Mapping) else None
    key_id = key_id_of(key)
    sent_at = moment_of(record.get("messageTimestamp")) if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or not isinstance(key, Mapping) or key_id is None or sent_at is None:
        raise LookupFailedError("a stored message without key or time")
    known_phone = phone_in(key)
    if key.get("fromMe") is not True:
        return None
    if known_phone is not None and recipient is not None and not same_recipient(known_phone, recipient):
        return None
    return StoredMessage(
        key_id=key_id,
        recipient=known_phone or recipient or "",
        text=text_of(record.get("message")),
        sent_at=sent_at,
        statuses=_statuses(record.get("MessageUpdate")),
    )


def _statuses(updates: object) -> tuple[ReceiptStatus, ...]:
    """The progress recorded for a message, unordered as the store keeps it."""
    rows = updates if isinstance(updates, list) else []
    parsed = (parse_status(row.get("status")) for row in rows if isinstance(row, Mapping))
    return tuple(progress for status in parsed if status and (progress := receipt_status(status)) is not None)
