"""Checks a send and makes the message of it, sealed and ready to be stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from api.access.domain import Caller
from api.messages.domain.acceptance import Admitted, NewMessage, admit, check_caller, check_test_destination
from api.messages.domain.forecast import Departing
from api.messages.domain.idempotency import FINGERPRINT_PURPOSE, Claim, Scope, canonical
from api.messages.domain.request import SendRequest
from api.messages.usecases.forecast_dispatch import ForecastDispatch
from api.numbers.domain import PiiMode
from api.profiles.usecases import FindProfiles
from api.recipients.domain import normalise
from api.templates.domain import Template
from api.templates.usecases import FindTemplate
from chassis.clock import Clock
from chassis.seal import KeyRing, Pepper
from contracts.facts import MessageAccepted
from contracts.ids import uuid7
from contracts.matching import RECIPIENT_PURPOSE, TEXT_PURPOSE, text_key, text_of
from contracts.values import Environment, MessageRef
from gateways.recipients import recipient_key


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedUp:
    """What the checks need to know: templates by the names they were asked for, and hashes of TEST recipients."""

    templates: Mapping[str, Template | None]
    profiles: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareMessage:
    """Looks up first, each thing once for many sends; then decides without waiting for anything."""

    templates: FindTemplate
    profiles: FindProfiles
    keys: KeyRing
    pepper: Pepper = field(repr=False)
    clock: Clock
    opt_in_enabled: bool
    forecasts: ForecastDispatch

    async def look_up(self, names: Iterable[str | None], caller: Caller) -> LookedUp:
        """Raises `RefusedError` if the caller may not send at all."""
        check_caller(caller)
        wanted = sorted({name for name in names if name is not None})
        tests = caller.environment is Environment.TEST
        return LookedUp(
            templates={name: await self.templates.find(caller.project_id, name) for name in wanted},
            profiles=await self.profiles.recipients(caller.tenant_id) if tests else frozenset(),
        )

    def prepare(self, request: SendRequest, caller: Caller, known: LookedUp, *, claim: Claim | None) -> NewMessage:
        """The message; raises `RefusedError` for the first failing check."""
        now = self.clock()
        recipient = normalise(request.destination, default_country=caller.allowance.default_country)
        recipient_hash = self.pepper.hash(recipient_key(recipient), purpose=RECIPIENT_PURPOSE)
        to_profile = recipient_hash in known.profiles
        check_test_destination(caller, to_profile=to_profile)
        admitted = admit(
            request,
            caller=caller,
            recipient=recipient,
            to_profile=to_profile,
            template=known.templates.get(request.template or ""),
            opt_in_enabled=self.opt_in_enabled,
            now=now,
        )
        accepted = self._seal(admitted, _ref(admitted, caller), recipient_hash, urgent=request.urgent, now=now)
        return NewMessage(
            key_id=caller.key_id,
            origin=admitted.number.origin,
            source_number=admitted.number.phone,
            template_name=admitted.template_name,
            kind=admitted.content.kind,
            labels=request.labels,
            accepted=accepted,
            keeps_content=admitted.number.pii_mode is not PiiMode.RELAY_ONLY,
            opt_in_needed=admitted.opt_in_needed,
            charges=admitted.charges,
            claim=claim,
            estimated_dispatch_at=self.forecasts.admit(accepted.ref.instance, _departing(accepted), now=now),
        )

    def claim(self, request: SendRequest, caller: Caller, key: str | None) -> Claim | None:
        """The claim to an idempotency key, if the request has one and the caller a number."""
        if key is None or caller.number is None:
            return None
        scope = Scope(
            project_id=caller.project_id,
            environment=caller.environment,
            number_id=caller.number.number_id,
            key=key,
        )
        return Claim(scope=scope, fingerprint=self.pepper.hash(canonical(request), purpose=FINGERPRINT_PURPOSE))

    def _seal(
        self, admitted: Admitted, ref: MessageRef, recipient_hash: str, *, urgent: bool, now: datetime
    ) -> MessageAccepted:
        content = admitted.content
        return MessageAccepted(
            ref=ref,
            deliver_by=admitted.deliver_by,
            deliver_until=admitted.deliver_until,
            urgent=urgent,
            sealed=self.keys.seal(content.model_dump_json().encode(), aad=ref.message_id.bytes),
            recipient_hash=recipient_hash,
            text_hash=self.pepper.hash(text_key(text_of(content)), purpose=TEXT_PURPOSE),
            accepted_at=now,
        )


def _departing(accepted: MessageAccepted) -> Departing:
    return Departing(
        tenant_id=accepted.ref.tenant_id,
        environment=accepted.ref.environment,
        category=accepted.ref.category,
        urgent=accepted.urgent,
        deliver_by=accepted.deliver_by,
    )


def _ref(admitted: Admitted, caller: Caller) -> MessageRef:
    message_id: UUID = uuid7()
    return MessageRef(
        message_id=message_id,
        tenant_id=caller.tenant_id,
        project_id=caller.project_id,
        number_id=admitted.number.number_id,
        instance=admitted.number.instance,
        environment=caller.environment,
        category=admitted.category,
        correlation_id=str(uuid7()),
    )
