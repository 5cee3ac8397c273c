"""Tells who must not come in before telling what is wrong with a body, as every route does with its own checks."""

from dataclasses import dataclass

from starlette.types import Scope

from api.access.usecases import Authenticate
from api.app.mounting import DOCUMENTED, PREFIXES, problem_of
from api.operators.usecases.authenticate import AuthenticateOperator
from api.refusals import RefusedError
from chassis.problems import header


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFirst:
    """Asked only where a body is about to be refused, so a good request pays nothing for it."""

    clients: Authenticate
    operators: AuthenticateOperator

    async def __call__(self, scope: Scope) -> None:
        """Raises `Problem` 401, or 429, if the key of a request below /v1 would have been refused."""
        path = scope["path"]
        try:
            if path.startswith(f"{DOCUMENTED}/admin/"):
                await self.operators.operator(_text(scope, b"x-operator-key"))
            elif path.startswith(tuple(f"{prefix}/" for prefix in PREFIXES)):
                await self.clients.caller(_text(scope, b"x-api-key"))
        except RefusedError as error:
            raise problem_of(error) from None


def _text(scope: Scope, name: bytes) -> str | None:
    value = header(scope, name)
    return value.decode("latin-1") if value is not None else None
