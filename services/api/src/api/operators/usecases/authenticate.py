"""Finding out which operator calls."""

import hmac
from dataclasses import dataclass, field
from functools import partial

from api.operators.domain import KnownOperator, Operator, Role, admit, parse_operator_key
from api.operators.store import operators
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from chassis.ttl_cache import TtlCache

FROM_ENVIRONMENT = Operator(operator_id=None, name="environment", role=Role.ADMIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticateOperator:
    """Operator key → operator. They are remembered for a few seconds, so that a revocation counts soon everywhere.

    The key from the environment is an administrator's: with it the first operators are created.
    """

    database: Database
    known: TtlCache[str, KnownOperator]
    environment_key: str = field(repr=False)

    async def operator(self, raw_key: str | None) -> Operator:
        """Raises `RefusedError(OPERATOR_KEY_INVALID)` whatever is wrong with the key."""
        given = raw_key or ""
        if hmac.compare_digest(given.encode(), self.environment_key.encode()):
            return FROM_ENVIRONMENT
        parts = parse_operator_key(given)
        if parts is None:
            raise RefusedError(Refusal.OPERATOR_KEY_INVALID)
        return admit(parts, await self.known.get_or_load(parts.public_id, partial(self._find, parts.public_id)))

    async def _find(self, public_id: str) -> KnownOperator | None:
        async with self.database.transaction() as tx:
            return await operators.find_operator(tx, public_id)
