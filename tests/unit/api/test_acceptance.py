"""Acceptance: what becomes of an admitted send, and which refusal comes first."""

from dataclasses import replace
from typing import Any

import pytest

from api.access.domain import Caller, KeyScope
from api.content.domain.draft import ButtonDraft, Draft, HeaderDraft, MediaDraft
from api.limits.domain import Allowance, CounterName
from api.messages.domain.acceptance import Admitted, admit, check_caller, check_test_destination
from api.messages.domain.request import SendRequest
from api.refusals import Refusal, RefusedError
from api.templates.domain import Template
from contracts.values import Category, ConnectionState, Environment

from .people import CALLER, NOW, NUMBER, TEMPLATE, TESTER

PICTURE = MediaDraft(media="https://example.org/a.png", media_type="image")
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def try_to_admit(
    caller: Caller = CALLER, known: Template | None = TEMPLATE, *, opt_in_enabled: bool = True, **request: Any
) -> Admitted:
    """`known` is what the request's template was found to be; `text` is short for a draft of text alone."""
    if "text" in request:
        request["draft"] = Draft(text=request.pop("text"))
    recipient = request.pop("to", "5547991000000")
    return admit(
        SendRequest(destination=f"+{recipient}", **request),
        caller=caller,
        recipient=recipient,
        to_profile=False,
        template=known,
        opt_in_enabled=opt_in_enabled,
        now=NOW,
    )


def refusal(caller: Caller = CALLER, known: Template | None = TEMPLATE, **request: Any) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        try_to_admit(caller, known, **request)
    return raised.value


def text_refusal(text: str) -> RefusedError:
    error = refusal(known=None, text=text)
    assert (error.refusal, error.field) == (Refusal.TEXT_INVALID, "text")
    return error


def test_a_template_becomes_a_text_of_its_category() -> None:
    admitted = try_to_admit(template="pedido", variables={"nome": "Ana", "valor": 10})
    assert admitted.content.to == "5547991000000"
    assert admitted.content.text == "Oi Ana, total 10"
    assert admitted.content.sender == NUMBER.phone
    assert (admitted.category, admitted.template_name) == (Category.OTP, "pedido")
    assert (admitted.deliver_until - admitted.deliver_by).total_seconds() == 120


def test_free_text_is_utility_and_reaches_the_gateway_as_given() -> None:
    text = "  Olá \U0001f44b <b>&amp;</b>\r\n\tfim  "
    admitted = try_to_admit(known=None, text=text)
    assert admitted.content.text == text
    assert (admitted.category, admitted.template_name) == (Category.UTILITY, None)


@pytest.mark.parametrize("character", ["a", "ç", "\U0001f600"])
def test_case_26_the_limit_counts_code_points(character: str) -> None:
    for length in (4_095, 4_096):
        admitted = try_to_admit(known=None, text=character * length)
        assert len(admitted.content.text) == length
    assert "4097" in text_refusal(character * 4_097).sentence
    assert "4096" in text_refusal(character * 4_097).sentence


def test_case_26_nothing_is_cut_at_the_limit() -> None:
    text = "x" * (4_096 - len(FAMILY)) + FAMILY
    assert try_to_admit(known=None, text=text).content.text == text
    text_refusal("x" + text)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0"])
def test_case_26_blank_text_is_refused(text: str) -> None:
    text_refusal(text)


def test_case_26_the_rendered_text_is_what_counts() -> None:
    error = refusal(template="pedido", variables={"nome": "x" * 10_000, "valor": 1})
    assert (error.refusal, error.field) == (Refusal.TEXT_INVALID, "variables")
    assert str(len("Oi , total 1") + 10_000) in error.sentence


@pytest.mark.parametrize("text", ["Ana\x00B", "half \ud83d"])
def test_case_10_nul_and_half_a_surrogate_pair_are_refused(text: str) -> None:
    text_refusal(text)
    error = refusal(template="pedido", variables={"nome": text, "valor": 1})
    assert (error.refusal, error.field) == (Refusal.VARIABLE_INVALID, "variables.nome")


def test_case_10_text_that_spells_an_escape_is_text() -> None:
    text = "literally \\u0000"
    assert try_to_admit(known=None, text=text).content.text == text


def test_the_first_failing_check_answers() -> None:
    nowhere = replace(CALLER, number=None, allowance=Allowance(media_allowed=False))
    marketing = replace(TEMPLATE, category=Category.MARKETING)
    bad: dict[str, Any] = {"template": "t", "deliver_at": "never", "media": PICTURE}
    assert refusal(nowhere, None, **bad).refusal is Refusal.TEMPLATE_NOT_FOUND
    assert refusal(nowhere, marketing, **bad).refusal is Refusal.MISSING_TEMPLATE_VARIABLES
    bad["variables"] = {"nome": "Ana", "valor": 1}
    assert refusal(nowhere, marketing, **bad).refusal is Refusal.DEFAULT_NUMBER_NOT_CONFIGURED
    numbered = replace(nowhere, number=NUMBER)
    assert refusal(numbered, marketing, **bad).refusal is Refusal.MARKETING_NEEDS_OWN_NUMBER
    assert refusal(numbered, TEMPLATE, **bad).refusal is Refusal.SUBSCRIPTION_REQUIRED_FOR_MEDIA
    assert refusal(CALLER, TEMPLATE, **bad).refusal is Refusal.SCHEDULE_INVALID


def test_a_bound_number_must_exist_and_be_open() -> None:
    send: dict[str, Any] = {"known": None, "text": "oi"}
    for state in (ConnectionState.CLOSE, ConnectionState.CONNECTING):
        bound = replace(CALLER, scope=KeyScope.NUMBER, number=replace(NUMBER, state=state))
        assert refusal(bound, **send).refusal is Refusal.NUMBER_NOT_OPEN
        assert try_to_admit(replace(bound, scope=KeyScope.DEFAULT), **send).number.state is state
    bound = replace(CALLER, scope=KeyScope.NUMBER)
    assert refusal(replace(bound, number=None), **send).refusal is Refusal.NUMBER_NOT_FOUND
    assert try_to_admit(bound, **send).number is NUMBER


def test_marketing_leaves_from_an_own_number_only() -> None:
    own = replace(CALLER, scope=KeyScope.NUMBER, number=replace(NUMBER, platform_default=False))
    marketing = replace(TEMPLATE, category=Category.MARKETING)
    send: dict[str, Any] = {"template": "t", "variables": {"nome": "Ana", "valor": 1}}
    assert try_to_admit(own, marketing, **send).category is Category.MARKETING
    assert refusal(CALLER, marketing, **send).refusal is Refusal.MARKETING_NEEDS_OWN_NUMBER
    bound = replace(CALLER, scope=KeyScope.NUMBER)
    assert refusal(bound, marketing, **send).refusal is Refusal.MARKETING_NEEDS_OWN_NUMBER
    for category in (Category.OTP, Category.UTILITY):
        assert try_to_admit(CALLER, replace(TEMPLATE, category=category), **send).category is category


def test_media_needs_a_plan_that_includes_it() -> None:
    free = replace(CALLER, allowance=Allowance(media_allowed=False))
    header = HeaderDraft(type="image", content="https://example.org/a.png")
    buttons = (ButtonDraft(type="reply", label="Sim"),)
    for draft in (Draft(media=PICTURE), Draft(text="oi", header=header, buttons=buttons)):
        assert refusal(free, None, draft=draft).refusal is Refusal.SUBSCRIPTION_REQUIRED_FOR_MEDIA
        assert try_to_admit(CALLER, None, draft=draft)
    assert try_to_admit(free, None, draft=Draft(text="oi", buttons=buttons))


def test_media_beside_a_template_takes_the_place_of_its_file() -> None:
    values = {"nome": "Ana", "valor": 1}
    admitted = try_to_admit(template="t", variables=values, media=PICTURE)
    assert (admitted.content.kind, admitted.content.text) == ("media", "Oi Ana, total 1")


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("environment", Environment)
@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize("enabled", [True, False])
def test_consent_is_asked_for_live_on_the_platforms_number_only_and_never_for_codes(
    category: Category, environment: Environment, default: bool, enabled: bool
) -> None:
    if category is Category.MARKETING and default:
        return
    caller = replace(CALLER, environment=environment, number=replace(NUMBER, platform_default=default))
    known = replace(TEMPLATE, category=category, body="oi")
    admitted = try_to_admit(caller, known, template="t", opt_in_enabled=enabled)
    expected = enabled and default and environment is Environment.LIVE and category is not Category.OTP
    assert admitted.opt_in_needed is expected


def test_free_text_is_no_code_so_it_needs_consent() -> None:
    assert try_to_admit(CALLER, None, text="oi").opt_in_needed


def test_what_is_counted_follows_plan_and_environment() -> None:
    plan = Allowance(live_monthly=10, package_messages=5, live_daily=3, test_daily=2)
    live = try_to_admit(replace(CALLER, allowance=plan), None, text="oi").charges
    assert {charge.key.name: charge.limit for charge in live} == {
        CounterName.LIVE_DAILY: 3,
        CounterName.LIVE_MONTHLY: 15,
    }
    tested = try_to_admit(replace(TESTER, allowance=plan), None, text="oi").charges
    assert {charge.key.name: charge.limit for charge in tested} == {CounterName.TEST_DAILY: 2}
    assert not try_to_admit(CALLER, None, text="oi").charges


def test_test_keys_send_to_profiles_only_unless_the_plan_says_otherwise() -> None:
    check_test_destination(TESTER, to_profile=True)
    check_test_destination(CALLER, to_profile=False)
    check_test_destination(replace(TESTER, allowance=Allowance(test_anyone=True)), to_profile=False)
    with pytest.raises(RefusedError) as raised:
        check_test_destination(TESTER, to_profile=False)
    assert raised.value.refusal is Refusal.TEST_DESTINATION_NOT_ALLOWED


def test_a_tenant_key_sends_nothing() -> None:
    with pytest.raises(RefusedError) as raised:
        check_caller(replace(CALLER, scope=KeyScope.TENANT))
    assert raised.value.refusal is Refusal.TENANT_SCOPE_NOT_ALLOWED


def test_live_needs_an_approved_project_and_test_does_not() -> None:
    check_caller(CALLER)
    check_caller(TESTER)
    with pytest.raises(RefusedError) as raised:
        check_caller(replace(TESTER, environment=Environment.LIVE))
    assert raised.value.refusal is Refusal.PRODUCTION_NOT_APPROVED


def test_content_and_request_show_nothing_personal() -> None:
    buttons = (ButtonDraft(type="copy", label="secret label", copy_code="secret code"),)
    request = SendRequest(
        destination="+5547991000000", draft=Draft(text="secret text", buttons=buttons), variables={"nome": "Ana"}
    )
    admitted = try_to_admit(CALLER, None, draft=request.draft)
    for shown in (repr(request), repr(admitted), str(admitted.content)):
        assert not any(secret in shown for secret in ("5547991000000", "secret", "Ana"))


@pytest.mark.parametrize(
    ("phone", "to"), [("5547991000000",) * 2, ("5547991000000", "554791000000"), ("554791000000",) * 2]
)
def test_a_number_does_not_send_to_itself_however_it_is_written(phone: str, to: str) -> None:
    for sender, recipient in ((phone, to), (to, phone)):
        itself = replace(CALLER, number=replace(NUMBER, phone=sender))
        error = refusal(itself, known=None, text="oi", to=recipient)
        assert (error.refusal, error.status, error.field) == (Refusal.PILOT_SELF_NUMBER, 400, "destinationNumber")


def test_a_neighbour_or_an_unknown_sender_is_not_itself() -> None:
    for phone in ("5547991000001", None):
        known_as = replace(CALLER, number=replace(NUMBER, phone=phone))
        assert try_to_admit(known_as, known=None, text="oi").content.text == "oi"
