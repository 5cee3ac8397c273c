"""Finding out who calls, and issuing keys."""

import hmac
import secrets
import string
from dataclasses import dataclass
from uuid import UUID

from api.access import store
from api.access.domain import Caller, KeyParts, admit, parse_key
from api.accounts.store import project_exists
from api.numbers.store import find_number
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from chassis.ttl_cache import TtlCache
from contracts.ids import uuid7
from contracts.values import Environment

_ALPHABET = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticate:
    """API key → caller. Callers are remembered for a few seconds, so that a change counts soon on every replica."""

    database: Database
    callers: TtlCache[str, Caller]

    async def caller(self, raw_key: str | None) -> Caller:
        """Raises `RefusedError(API_KEY_INVALID)` whatever is wrong with the key."""
        parts = parse_key(raw_key)
        known = self.callers.get(parts.public_id)
        if known is None:
            async with self.database.transaction() as tx:
                known = await store.find_caller(tx, parts.public_id)
            if known is not None:
                self.callers.put(parts.public_id, known)
        return admit(parts, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticateOperator:
    """Compares the operator key in constant time."""

    operator_key: str

    def admit(self, given: str | None) -> None:
        """Raises `RefusedError(OPERATOR_KEY_INVALID)`."""
        if not hmac.compare_digest((given or "").encode(), self.operator_key.encode()):
            raise RefusedError(Refusal.OPERATOR_KEY_INVALID)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueKey:
    """Makes a key; the raw key exists only in the answer."""

    database: Database

    async def issue(
        self, *, project_id: UUID, environment: Environment, name: str, number_id: UUID | None
    ) -> tuple[UUID, str]:
        """The new key's id and the raw key."""
        public_id = "".join(secrets.choice(_ALPHABET) for _ in range(12))
        parts = KeyParts(environment=environment, public_id=public_id, secret=secrets.token_urlsafe(32))
        key_id = uuid7()
        async with self.database.transaction() as tx:
            if not await project_exists(tx, project_id):
                raise RefusedError(Refusal.PROJECT_NOT_FOUND)
            if number_id is not None and await find_number(tx, number_id) is None:
                raise RefusedError(Refusal.NUMBER_NOT_FOUND)
            await store.insert_key(
                tx, key_id=key_id, parts=parts, name=name, project_id=project_id, number_id=number_id
            )
        return key_id, parts.raw()
