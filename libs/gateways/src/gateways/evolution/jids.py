"""WhatsApp addresses as Evolution writes them, and the phone number inside those that have one."""

import re
from collections.abc import Mapping

_PHONE_JID = re.compile(r"([0-9]{6,15})(?::[0-9]{1,4})?@(?:s\.whatsapp\.net|c\.us)")
_LID = re.compile(r"([0-9]{6,20})(?::[0-9]{1,4})?@lid")
_BARE_NUMBER = re.compile(r"\+?([0-9]{6,15})")
# Where the phone may hide when `remoteJid` is a LID; the order is the order of trust.
_PHONE_FIELDS = ("remoteJid", "remoteJidAlt", "senderPn", "participantPn")

_CHAT_FIELDS = ("remoteJid", "remoteJidAlt")


def phone_jid(digits: str) -> str:
    """The person's JID for bare digits."""
    return f"{digits}@s.whatsapp.net"


def phone_of(jid: object) -> str | None:
    """The digits of a person's phone JID (device suffix cut) or bare number; None for LIDs, groups and garbage."""
    if not isinstance(jid, str) or len(jid) > 100:
        return None
    found = _PHONE_JID.fullmatch(jid) or _BARE_NUMBER.fullmatch(jid)
    return found[1] if found else None


def phone_in(*holders: object) -> str | None:
    """The first phone found in the JID fields of the given objects; None where the chat is no person's."""
    if any(_is_crowd(holder.get("remoteJid")) for holder in holders if isinstance(holder, Mapping)):
        return None
    fields = ((holder, name) for name in _PHONE_FIELDS for holder in holders if isinstance(holder, Mapping))
    return next((phone for holder, name in fields if (phone := phone_of(holder.get(name)))), None)


def lid_in(*holders: object) -> str | None:
    """The digits of the LID that the given objects name their chat by, device suffix cut; None if they name none."""
    jids = [holder.get(name) for name in _CHAT_FIELDS for holder in holders if isinstance(holder, Mapping)]
    found = (_LID.fullmatch(jid) for jid in jids if isinstance(jid, str) and len(jid) <= 100)
    return next((match[1] for match in found if match), None)


def _is_crowd(jid: object) -> bool:
    return isinstance(jid, str) and jid.endswith(("@g.us", "@broadcast", "@newsletter"))
