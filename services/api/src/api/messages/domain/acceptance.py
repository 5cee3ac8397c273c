"""Whether a send is accepted, and the message it becomes."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from api.access.domain import Caller, KeyScope, sending_number
from api.content.domain.blueprint import blueprint_of
from api.content.domain.draft import Draft
from api.content.domain.finish import BUTTONS_MAX, TEMPLATE_BUTTONS_MAX, finish
from api.limits.domain import Charge, charges_of
from api.messages.domain.idempotency import Claim
from api.messages.domain.receipt import Receipt
from api.messages.domain.request import SendRequest
from api.messages.domain.window import delivery_window
from api.numbers.domain import Number
from api.optins.domain import is_asked_for
from api.refusals import Refusal, RefusedError
from api.templates.domain import Template, body_to_send
from contracts.facts import MessageAccepted
from contracts.parts import Buttons, Media
from contracts.values import Category, Environment, MessageContent, MessageRef
from gateways.recipients import same_recipient


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A send that passed every check that needs no counting; content is still clear."""

    content: MessageContent
    number: Number
    category: Category
    template_name: str | None
    deliver_by: datetime
    deliver_until: datetime
    opt_in_needed: bool
    charges: tuple[Charge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message to be stored; `accepted` is the fact stored with it, the rest decides whether it is."""

    key_id: UUID
    origin: str
    source_number: str | None
    template_name: str | None
    accepted: MessageAccepted
    kind: str = "text"
    labels: tuple[str, ...] = ()
    keeps_content: bool = True
    opt_in_needed: bool = False
    charges: tuple[Charge, ...] = ()
    claim: Claim | None = None
    estimated_dispatch_at: datetime | None = None

    @property
    def ref(self) -> MessageRef:
        """Whom the fact is about."""
        return self.accepted.ref


def receipt_of(message: NewMessage) -> Receipt:
    """The receipt of a message just stored."""
    return Receipt(
        message_id=message.ref.message_id,
        correlation_id=message.ref.correlation_id,
        accepted_at=message.accepted.accepted_at,
        origin=message.origin,
        source_number=message.source_number,
        estimated_dispatch_at=message.estimated_dispatch_at,
    )


def check_scope(caller: Caller) -> None:
    """A tenant key sends nothing."""
    if caller.scope is KeyScope.TENANT:
        raise RefusedError(Refusal.TENANT_SCOPE_NOT_ALLOWED)


def check_caller(caller: Caller) -> None:
    """A tenant key sends nothing; a LIVE key sends only for a project approved for production."""
    check_scope(caller)
    if caller.environment is Environment.LIVE and not caller.production_approved:
        raise RefusedError(Refusal.PRODUCTION_NOT_APPROVED)


def check_test_destination(caller: Caller, *, to_profile: bool) -> None:
    """TEST keys send to the tenant's own people, unless the plan lets them send to anyone."""
    if caller.environment is Environment.TEST and not to_profile and not caller.allowance.test_anyone:
        raise RefusedError(Refusal.TEST_DESTINATION_NOT_ALLOWED, field="destinationNumber")


def admit(
    request: SendRequest,
    *,
    caller: Caller,
    recipient: str,
    to_profile: bool,
    template: Template | None,
    opt_in_enabled: bool,
    now: datetime,
) -> Admitted:
    """The checks in their order, from not to itself to the delivery window; the first failing one raises."""
    _check_not_itself(recipient, caller.number)
    draft = _draft(request, template, caller)
    sender = caller.number.phone if caller.number else None
    field_name = "variables" if request.template is not None else "text"
    buttons_max = TEMPLATE_BUTTONS_MAX if request.template is not None else BUTTONS_MAX
    content = finish(draft, to=recipient, sender=sender, text_field=field_name, buttons_max=buttons_max)
    number = sending_number(caller)
    category = template.category if request.template is not None and template else Category.UTILITY
    _check_category(category, number)
    _check_plan(content, caller)
    start, end = delivery_window(
        deliver_at=request.deliver_at, deliver_until=request.deliver_until, category=category, now=now
    )
    return Admitted(
        content=content,
        number=number,
        category=category,
        template_name=template.name if request.template is not None and template else None,
        deliver_by=start,
        deliver_until=end,
        opt_in_needed=is_asked_for(
            enabled=opt_in_enabled,
            number=number,
            environment=caller.environment,
            project_id=caller.project_id,
            category=category,
        ),
        charges=charges_of(
            caller.allowance,
            tenant_id=caller.tenant_id,
            environment=caller.environment,
            to_profile=to_profile,
            now=now,
        ),
    )


def _draft(request: SendRequest, template: Template | None, caller: Caller) -> Draft:
    if request.template is None:
        return request.draft or Draft()
    draft = blueprint_of(body_to_send(template, caller.environment)).fill(request.variables)
    return draft.with_media(request.media) if request.media is not None else draft


def _check_not_itself(recipient: str, number: Number | None) -> None:
    if number is not None and number.phone is not None and same_recipient(recipient, number.phone):
        raise RefusedError(Refusal.PILOT_SELF_NUMBER, field="destinationNumber")


def _check_category(category: Category, number: Number) -> None:
    if category is Category.MARKETING and number.platform_default:
        raise RefusedError(Refusal.MARKETING_NEEDS_OWN_NUMBER, field="templateId")


def _check_plan(content: MessageContent, caller: Caller) -> None:
    holds_file = isinstance(content.part, Media) or (
        isinstance(content.part, Buttons) and content.part.header is not None
    )
    if holds_file and not caller.allowance.media_allowed:
        raise RefusedError(Refusal.SUBSCRIPTION_REQUIRED_FOR_MEDIA, field="media")
