"""What a customer may select, and what a change to an endpoint leaves as it is."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from contracts.questions import ChangeEndpoint, Endpoint
from notifier.domain.endpoints import changed, judge_change, selected
from notifier.domain.problems import SWITCHED_OFF

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def endpoint(number: int = 1, url: str = "https://a.example/hook") -> Endpoint:
    return Endpoint(
        endpoint_id=UUID(int=number),
        tenant_id=UUID(int=8),
        number_id=UUID(int=9),
        instance="acme",
        name="hook",
        url=url,
        events=("message.sent", "message.read"),
        active=True,
        created_at=NOW,
        updated_at=NOW,
    )


def asking(**changes: object) -> ChangeEndpoint:
    return ChangeEndpoint.model_validate({"tenant_id": UUID(int=8), "endpoint_id": UUID(int=1), **changes})


def test_published_events_nobody_says_here_are_left_out_silently() -> None:
    never = ("lead.received", "call.received", "calls", "number.recovered", "number.health_blocked")
    assert selected((*never, "message.sent", "message.sent", "*")) == ("message.sent", "*")


def test_events_replace_the_whole_list_and_what_is_not_given_stays() -> None:
    assert changed(asking(events=["message.failed"]), endpoint(), now=NOW).events == ("message.failed",)
    assert changed(asking(events=[]), endpoint(), now=NOW).events == ()
    renamed = changed(asking(name="other"), endpoint(), now=NOW)
    assert (renamed.name, renamed.events, renamed.url) == ("other", endpoint().events, endpoint().url)
    assert changed(asking(active=False), endpoint(), now=NOW).active is False


def test_a_change_is_judged_like_a_registration_but_never_against_itself() -> None:
    others = [endpoint(), endpoint(2, "https://b.example/hook")]
    assert judge_change(asking(url="https://a.example/hook"), endpoint(), others, refusal=None) is None
    taken = judge_change(asking(url="https://b.example/hook"), endpoint(), others, refusal=None)
    assert taken is not None
    assert taken.code == "WEBHOOK_ALREADY_EXISTS"
    typo = judge_change(asking(events=["message.snet"]), endpoint(), others, refusal=None)
    assert typo is not None
    assert typo.code == "UNKNOWN_EVENT"
    refused = judge_change(asking(url="http://10.0.0.1"), endpoint(), others, refusal="private address")
    assert refused is not None
    assert refused.code == "WEBHOOK_URL_REFUSED"


def test_off_by_hand_says_so_since_when_and_on_again_forgets_it() -> None:
    off = changed(asking(active=False), endpoint(), now=NOW)
    assert (off.disabled_reason, off.disabled_at) == (SWITCHED_OFF, NOW)
    assert changed(asking(active=False), off, now=NOW + timedelta(days=1)).disabled_at == NOW
    renamed = changed(asking(name="other"), off, now=NOW)
    assert (renamed.active, renamed.disabled_reason) == (False, SWITCHED_OFF)
    on = changed(asking(active=True), off, now=NOW)
    assert (on.active, on.disabled_reason, on.disabled_at) == (True, None, None)
