"""What a PATCH asks for: the fields that are given, and at least one of them."""

from typing import Any

from api.refusals import Refusal, RefusedError
from api.schemas import Body


class ChangeBody(Body):
    """The base of bodies whose fields may be left out; what is left out stays as it is."""

    def changes(self) -> dict[str, Any]:
        """The given fields by name; raises `RefusedError(EMPTY_PATCH)`."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if not given:
            raise RefusedError(Refusal.EMPTY_PATCH)
        return given
