"""What is handed to a gateway for one message: which words, which taps, how long typing shows, under which id."""

from contracts.matching import names_link
from contracts.parts import Buttons, ListMenu, Media
from contracts.plain_text import plain_text
from contracts.sending import ChoiceStyle
from contracts.values import Category, MessageContent, MessageRef, PacingPolicy
from gateways.port import Abilities, Access, Outbound
from gateways.reserved import reserved_id

TYPING_MS_PER_CHARACTER_MIN = 40
TYPING_MS_PER_CHARACTER_MAX = 60
TYPING_MS_MAX = 3_000
TYPING_SHARE_OF_GAP = 0.5
"""Typing takes place while the lane would pause anyway, so it costs no throughput; an unpaced number does not type."""


def compose(
    content: MessageContent, *, ref: MessageRef, access: Access, policy: PacingPolicy, abilities: Abilities, dice: float
) -> Outbound:
    """The same words for every attempt; `dice` in [0, 1) only varies the typing."""
    text, part = _worded(content, is_plain=choices_are_plain(policy, abilities))
    return Outbound(
        access=access,
        recipient=content.to,
        text=text,
        part=part,
        link_preview=part is None and names_link(text),
        typing_ms=typing_ms(text, ref=ref, policy=policy, dice=dice),
        reserved_id=reserved_id(ref.message_id, ref.round) if ids_are_reserved(policy, abilities) else None,
    )


def typing_ms(text: str, *, ref: MessageRef, policy: PacingPolicy, dice: float) -> int:
    """As long as a quick hand needs for the text, at most 3 s and half of the gap that follows the send.

    None before an OTP: nobody believes that a person types a code, and a code is late by every second it waits.
    """
    if not policy.sending.typing or ref.category is Category.OTP:
        return 0
    spread = TYPING_MS_PER_CHARACTER_MAX - TYPING_MS_PER_CHARACTER_MIN
    wanted = len(text) * (TYPING_MS_PER_CHARACTER_MIN + spread * dice)
    gap_ms = policy.pace(ref.environment, ref.category).min_ms
    return int(min(wanted, TYPING_MS_MAX, gap_ms * TYPING_SHARE_OF_GAP))


def choices_are_plain(policy: PacingPolicy, abilities: Abilities) -> bool:
    """Whether buttons and lists are written out: text that is read beats taps that are not seen."""
    match policy.sending.choices:
        case ChoiceStyle.AUTO:
            return not abilities.native_choices
        case style:
            return style is ChoiceStyle.PLAIN


def ids_are_reserved(policy: PacingPolicy, abilities: Abilities) -> bool:
    """Whether this number's messages ask for the id we chose."""
    wanted = policy.sending.reserve_ids
    return abilities.reserved_ids if wanted is None else wanted


def _worded(content: MessageContent, *, is_plain: bool) -> tuple[str, Media | Buttons | ListMenu | None]:
    """Written out, a picture above buttons becomes the message and the words its caption."""
    match content.part:
        case Buttons(header=header) as part if is_plain:
            return plain_text(content.text, part), header
        case ListMenu() as part if is_plain:
            return plain_text(content.text, part), None
        case part:
            return content.text, part
