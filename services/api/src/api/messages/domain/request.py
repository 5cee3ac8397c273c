"""What a client asks for when it sends."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.content.domain.draft import Draft, MediaDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRequest:
    """What a client asks for, already of the right types: a draft, or a template with its variables.

    `media` beside a template takes the place of the template's own file.
    """

    destination: str = field(repr=False)
    draft: Draft | None = None
    template: str | None = None
    variables: Mapping[str, object] = field(default_factory=dict, repr=False)
    media: MediaDraft | None = None
    deliver_at: str | None = None
    deliver_until: str | None = None
    urgent: bool = False
    labels: tuple[str, ...] = ()
