"""Canceling, through all services: what is canceled never leaves, and what has left is never called canceled."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from pilot_status import PilotStatusClient, ValidationError
from tests.e2e.client import Client
from tests.e2e.test_official_sdk import transport_to

from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until

ROUNDS = 12
BURST = 10


def cancel(client: Client, *ids: str) -> dict[str, Any]:
    answer = client.http.request("DELETE", "/messages/cancel", json={"messageIds": list(ids)})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def timeline(client: Client, message_id: str) -> dict[str, Any]:
    return dict(client.http.get(f"/messages/{message_id}/timeline").json())


def texts(client: Client) -> list[str]:
    return [row["text"] for row in client.ledger()]


def test_row_16_scheduled_for_later_then_canceled_is_never_sent(
    system: System, account: Account, client: Client
) -> None:
    sdk = PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    sent = sdk.messages.send({"text": "not any more", "destinationNumber": "+5547991000031", "deliverAt": later})

    def is_waiting() -> bool:
        waiting = timeline(client, sent["id"])["waitingFor"]
        return bool(waiting and waiting["code"] == "DELIVERY_TIME")

    wait_until(is_waiting, what="the dispatcher to hold it", timeout_seconds=30)
    expected = datetime.fromisoformat(timeline(client, sent["id"])["waitingFor"]["expectedDispatchAt"])
    assert abs(expected - datetime.fromisoformat(later)) < timedelta(seconds=1)
    result = sdk.messages.cancel([sent["id"], "nope"])
    assert result == {"cancelled": [sent["id"]], "failed": [{"id": "nope", "reason": "NOT_FOUND"}]}
    details = sdk.messages.get(sent["id"])
    assert (details["status"], details["errorCode"]) == ("CANCELED", None)
    assert timeline(client, sent["id"])["waitingFor"] is None
    assert "not any more" not in texts(client)


def test_row_17_what_was_sent_is_not_cancelable(system: System, account: Account, client: Client) -> None:
    sent = client.send("+5547991000032", "too late to cancel")
    client.wait_for(sent["id"], "READ")
    answer = cancel(client, sent["id"])
    assert answer == {"cancelled": [], "failed": [{"id": sent["id"], "reason": "NOT_CANCELABLE"}]}
    sdk = PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))
    with pytest.raises(ValidationError):
        sdk.messages.cancel([str(number) for number in range(101)])


def test_canceling_at_the_very_moment_of_sending(client: Client) -> None:
    """Rounds of a burst that leaves while it is canceled: each message has exactly one of the two ends."""
    dice = random.Random(7)
    canceled: dict[str, str] = {}
    kept: dict[str, str] = {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        for number in range(ROUNDS):
            names = [f"race {number}.{place}" for place in range(BURST)]
            burst = {
                name: pool.submit(client.send, f"+55479910001{place:02d}", name) for place, name in enumerate(names)
            }
            ids = {name: future.result()["id"] for name, future in burst.items()}
            order = sorted(names, key=lambda _: dice.random())
            answers = list(pool.map(partial(cancel, client), [ids[name] for name in order]))
            for name, answer in zip(order, answers, strict=True):
                failed = {failure["reason"] for failure in answer["failed"]}
                assert failed <= {"NOT_CANCELABLE"}, answer
                (kept if failed else canceled)[ids[name]] = name
    for message_id in kept:
        client.wait_for(message_id, "READ")
    left = [text for text in texts(client) if text.startswith("race ")]
    assert len(left) == len(set(left)), "sent twice"
    assert set(left) == set(kept.values())
    assert {client.read(message_id)["status"] for message_id in canceled} <= {"CANCELED"}
    assert canceled, "the race was never won by canceling"
    assert kept, "the race was never won by sending"


def test_list_and_history_and_figures_know_what_was_sent(system: System, account: Account, client: Client) -> None:
    sdk = PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))
    sent = client.send("+5547991000033", "for the record")
    client.wait_for(sent["id"], "READ")
    listed = client.http.get("/messages", params={"destination": "+5547991000033", "status": "READ"}).json()
    assert [message["id"] for message in listed["messages"]] == [sent["id"]]
    history = sdk.messages.history(page_size=100)
    row = next(message for message in history["messages"] if message["id"] == sent["id"])
    assert (row["text"], row["direction"], row["participantPhone"]) == ("for the record", "OUTBOUND", "+5547991000033")
    with pytest.raises(ValidationError) as refused:
        sdk.messages.history(start_date="2026-02-01", end_date="2026-01-01")
    assert refused.value.body["code"] == "INVALID_DATE_RANGE"
    stats = sdk.analytics.get_dashboard_stats(tz="America/Sao_Paulo")
    assert stats["totalSent"] >= 1
    assert stats["statusDistribution"]["read"] >= 1
    with pytest.raises(ValidationError):
        sdk.analytics.get_dashboard_stats(tz="Mars/Olympus")
