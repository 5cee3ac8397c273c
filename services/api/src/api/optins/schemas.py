"""Bodies of the opt-in routes, with the names of the older API."""

from typing import Any

from pydantic import Field, StrictStr

from api.optins.domain import OptInStatus
from api.schemas import Body, instant


class OptInBody(Body):
    """Whose consent."""

    destination_number: StrictStr = Field(max_length=100)


def status_body(status: OptInStatus) -> dict[str, Any]:
    """Whether a send would pass, and why."""
    opt_in = status.opt_in
    return {
        "authorized": status.authorized,
        "required": status.required,
        "enabled": status.enabled,
        "reason": status.reason.value if status.reason else None,
        "firstOptInAt": instant(opt_in.first_opt_in_at) if opt_in else None,
        "lastSeenAt": instant(opt_in.last_seen_at) if opt_in else None,
    }
