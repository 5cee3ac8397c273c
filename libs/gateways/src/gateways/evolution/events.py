"""The names of Evolution's webhook events: what it sends, and what we subscribe to."""

SUBSCRIBED_EVENTS = (
    "MESSAGES_UPDATE",
    "SEND_MESSAGE",
    "CONNECTION_UPDATE",
    "STATUS_INSTANCE",
    "LOGOUT_INSTANCE",
    "REMOVE_INSTANCE",
)

ROUTING_KEYS = tuple(name.lower().replace("_", ".") for name in SUBSCRIBED_EVENTS)
"""The same events as Evolution's own RabbitMQ publisher names them, and the exchange it uses for all its instances."""

GLOBAL_EXCHANGE = "evolution_exchange"

_KNOWN = frozenset(
    {
        "application.startup",
        "call",
        "chats.delete",
        "chats.set",
        "chats.update",
        "chats.upsert",
        "connection.update",
        "contacts.set",
        "contacts.update",
        "contacts.upsert",
        "error",
        "group-participants.update",
        "groups.update",
        "groups.upsert",
        "instance.create",
        "instance.delete",
        "labels.association",
        "labels.edit",
        "logout.instance",
        "messages.delete",
        "messages.edited",
        "messages.set",
        "messages.update",
        "messages.upsert",
        "presence.update",
        "qrcode.updated",
        "remove.instance",
        "send.message",
        "send.message.update",
        "status.instance",
        "typebot.change-status",
        "typebot.start",
    }
)
_BY_LOOSE_NAME = {name.replace("-", ".").replace(".", "_"): name for name in _KNOWN}


def canonical_event(event: object) -> str | None:
    """The dotted name of a known event, however it is spelled (`MESSAGES_UPDATE`, `messages-update`); else None."""
    if not isinstance(event, str) or len(event) > 64:
        return None
    return _BY_LOOSE_NAME.get(event.strip().lower().replace(".", "_").replace("-", "_"))
