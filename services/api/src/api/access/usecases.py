"""Finding out who calls, and issuing keys."""

import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from api.access import store
from api.access.domain import (
    Caller,
    KeyParts,
    KeyScope,
    Rate,
    StoredKey,
    admit,
    check_belongs,
    check_rate,
    parse_key,
    rotates_keys,
    scope_of,
)
from api.accounts.store import find_project
from api.numbers.domain import Number
from api.numbers.store import find_number
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database, Transaction
from chassis.token_bucket import TokenBuckets
from chassis.ttl_cache import TtlCache
from contracts.ids import uuid7
from contracts.values import Environment

USES_WRITTEN_EVERY = timedelta(minutes=1)
_ALPHABET = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticate:
    """API key → caller. Callers are remembered for a few seconds, so that a change counts soon on every replica."""

    database: Database
    callers: TtlCache[str, Caller]
    rates: TokenBuckets = field(default_factory=TokenBuckets)
    told: Callable[[Rate], None] = field(default=lambda _: None)
    """Hears what is left of the rate of each key that was let in."""
    used: Callable[[UUID], None] = field(default=lambda _: None)
    """Hears of each use of a key."""

    async def caller(self, raw_key: str | None) -> Caller:
        """Raises `RefusedError`: API_KEY_INVALID whatever is wrong with the key, RATE_LIMITED if used too often."""
        parts = parse_key(raw_key)
        caller = admit(parts, await self.callers.get_or_load(parts.public_id, partial(self._find, parts.public_id)))
        self.used(caller.key_id)
        per_minute = caller.allowance.requests_per_minute
        if per_minute is not None:
            level = self.rates.take(caller.key_id, per_minute=per_minute)
            check_rate(level.wait_seconds, per_minute=per_minute)
            self.told(Rate(per_minute=per_minute, left=level.left, full_in_seconds=level.full_in_seconds))
        return caller

    async def _find(self, public_id: str) -> Caller | None:
        async with self.database.transaction() as tx:
            return await store.find_caller(tx, public_id)


class RememberUses:
    """Keeps when each key was last used: noted in memory, written for all of them together, a key once a minute.

    What is noted and not yet written is lost with the process. At most `keys_max` are noted; a use beyond is not.
    """

    def __init__(self, *, database: Database, clock: Clock, keys_max: int = 100_000) -> None:
        self._database, self._clock, self._keys_max = database, clock, keys_max
        self._seen: dict[UUID, datetime] = {}
        self._written: dict[UUID, datetime] = {}

    def saw(self, key_id: UUID) -> None:
        """Note a use; costs no more than a look at the clock."""
        if len(self._seen) < self._keys_max or key_id in self._seen:
            self._seen[key_id] = self._clock()

    async def step(self) -> bool:
        """Write what is due; False, for there is never more at once."""
        now = self._clock()
        self._written = {key_id: at for key_id, at in self._written.items() if now - at < USES_WRITTEN_EVERY}
        due = {key_id: at for key_id, at in self._seen.items() if key_id not in self._written}
        if due:
            async with self._database.transaction() as tx:
                await store.write_uses(tx, due, every=USES_WRITTEN_EVERY)
            self._written |= due
            self._seen = {key_id: at for key_id, at in self._seen.items() if due.get(key_id) != at}
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueKey:
    """Makes a key; the raw key exists only in the answer."""

    database: Database

    async def issue(
        self,
        *,
        project_id: UUID,
        environment: Environment,
        name: str,
        number_id: UUID | None,
        scope: KeyScope | None = None,
    ) -> tuple[UUID, str]:
        """The new key's id and the raw key; the scope follows from the number unless one is given."""
        scope = scope_of(scope, number_given=number_id is not None)
        parts = new_parts(environment)
        key_id = uuid7()
        async with self.database.transaction() as tx:
            project = await find_project(tx, project_id)
            if project is None:
                raise RefusedError(Refusal.PROJECT_NOT_FOUND)
            if number_id is not None:
                check_belongs(await find_number(tx, number_id), tenant_id=project.tenant_id)
            await store.insert_key(
                tx, key_id=key_id, parts=parts, name=name, project_id=project_id, number_id=number_id, scope=scope
            )
        return key_id, parts.raw()


def new_parts(environment: Environment) -> KeyParts:
    """A key nobody has had before."""
    public_id = "".join(secrets.choice(_ALPHABET) for _ in range(12))
    return KeyParts(environment=environment, public_id=public_id, secret=secrets.token_urlsafe(32))


KEYS_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """A new key in the place of an old one; `parts` holds the secret, which is shown this once."""

    key: StoredKey
    parts: KeyParts


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageOwnKeys:
    """What a client does with its keys. The replaced key dies here at once, and on other replicas within seconds."""

    database: Database
    callers: TtlCache[str, Caller]
    clock: Clock

    async def of_numbers(self, caller: Caller) -> Sequence[tuple[Number, StoredKey]]:
        """A tenant's numbers with the default key of each."""
        async with self.database.transaction() as tx:
            return await store.list_default_keys(tx, caller.tenant_id, limit=KEYS_MAX)

    async def own(self, caller: Caller) -> StoredKey:
        """The key that asks."""
        async with self.database.transaction() as tx:
            key = await store.find_key(tx, caller.key_id)
        if key is None:
            raise RefusedError(Refusal.API_KEY_INVALID)
        return key

    async def rotate(self, caller: Caller, number_id: UUID) -> Rotated:
        """A new default key for a number, of the same project, environment and name as the one it replaces."""
        rotates_keys(caller)
        async with self.database.transaction() as tx:
            if not await store.lock_number(tx, caller.tenant_id, number_id):
                raise RefusedError(Refusal.NUMBER_NOT_FOUND, field="whatsappNumberId")
            old = await store.find_default_key(tx, number_id)
            if old is not None:
                await store.revoke_key(tx, old.key_id)
            rotated = self._next(old or _first_key(caller, number_id, self.clock()))
            await self._insert(tx, rotated)
        if old is not None:
            self.callers.forget(old.public_id)
        return rotated

    async def regenerate(self, caller: Caller) -> Rotated:
        """A new key in the place of the one that asks; of two that ask at once, one is too late."""
        async with self.database.transaction() as tx:
            old = await store.find_key(tx, caller.key_id)
            if old is None or not await store.revoke_key(tx, old.key_id):
                raise RefusedError(Refusal.API_KEY_INVALID)
            rotated = self._next(old)
            await self._insert(tx, rotated)
        self.callers.forget(old.public_id)
        return rotated

    def _next(self, old: StoredKey) -> Rotated:
        parts = new_parts(old.environment)
        key = replace(
            old,
            key_id=uuid7(),
            public_id=parts.public_id,
            last4=parts.last4,
            created_at=self.clock(),
            last_used_at=None,
        )
        return Rotated(key=key, parts=parts)

    async def _insert(self, tx: Transaction, rotated: Rotated) -> None:
        key = rotated.key
        await store.insert_key(
            tx,
            key_id=key.key_id,
            parts=rotated.parts,
            name=key.name,
            project_id=key.project_id,
            number_id=key.number_id,
            scope=key.scope,
        )


def _first_key(caller: Caller, number_id: UUID, now: datetime) -> StoredKey:
    return StoredKey(
        key_id=caller.key_id,
        public_id="",
        name="default",
        environment=caller.environment,
        project_id=caller.project_id,
        number_id=number_id,
        scope=KeyScope.NUMBER,
        last4=None,
        created_at=now,
    )
