"""Where a message goes: what people paste, as E.164 digits, or a reason why not."""

from api.recipients.domain.destination import normalise

__all__ = ["normalise"]
