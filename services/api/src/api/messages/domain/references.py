"""What clients name messages by: our id, the correlation id, or WhatsApp's."""

from uuid import UUID


def is_storable(reference: str) -> bool:
    """Whether such a text can be in the database at all: no NUL, no half of a surrogate pair."""
    return "\x00" not in reference and not any("\ud800" <= character <= "\udfff" for character in reference)


def as_uuid(reference: str) -> UUID | None:
    """The id in any of its spellings."""
    try:
        return UUID(reference)
    except ValueError:
        return None
