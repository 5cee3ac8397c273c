"""The body customers receive, held against the official SDK's own parser."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from pilot_status import parse_customer_webhook

from contracts.errors import SENTENCES, ErrorCode
from contracts.facts import MessageStatusChanged
from contracts.parts import Media, MediaType
from contracts.status import Status
from contracts.values import Category, Environment, MessageContent, MessageRef
from notifier.domain.endpoints import EVENT_OF
from notifier.domain.payload import UNNAMED_FAILURE, body_of, iso_ms

CHANGED_AT = datetime(2026, 3, 4, 5, 6, 7, 89_999, UTC)
CONTENT = MessageContent(to="5511912345678", text="Olá")


def fact(status: Status = Status.DELIVERED, **changes: Any) -> MessageStatusChanged:
    ref = MessageRef(
        message_id=UUID(int=1),
        tenant_id=UUID(int=2),
        project_id=UUID(int=3),
        number_id=UUID(int=4),
        instance="acme",
        environment=Environment.LIVE,
        category=Category.OTP,
        correlation_id="order-1",
    )
    fields: dict[str, Any] = {
        "ref": ref,
        "previous": Status.QUEUED,
        "status": status,
        "changed_at": CHANGED_AT,
        "version": 7,
        "key_id": "3EB0",
        "accepted_at": CHANGED_AT,
    }
    return MessageStatusChanged(**{**fields, **changes})


def data_of(changed: MessageStatusChanged, content: MessageContent | None = CONTENT) -> dict[str, Any]:
    event = EVENT_OF[changed.status]
    parsed = parse_customer_webhook(json.loads(body_of(changed, event, content)), unknown_events="raise")
    assert parsed["event"] == event
    return dict(parsed["data"])


def test_delivered() -> None:
    assert data_of(fact()) == {
        "numberId": str(UUID(int=4)),
        "id": str(UUID(int=1)),
        "createdAt": "2026-03-04T05:06:07.089Z",
        "to": "+5511912345678",
        "fromMe": True,
        "messageId": "3EB0",
        "type": "text",
        "content": "Olá",
        "correlationId": "order-1",
        "status": "DELIVERED",
        "version": 7,
    }


@pytest.mark.parametrize("status", EVENT_OF)
@pytest.mark.parametrize("content", [CONTENT, None])
@pytest.mark.parametrize("key_id", ["3EB0", None])
def test_the_sdk_reads_every_event(status: Status, content: MessageContent | None, key_id: str | None) -> None:
    data = data_of(fact(status, key_id=key_id), content)
    assert data["messageId"] == key_id
    assert all(value is not None for name, value in data.items() if name != "messageId")


@pytest.mark.parametrize("code", ErrorCode)
def test_a_failure_names_its_code_and_says_it_in_words(code: ErrorCode) -> None:
    data = data_of(fact(Status.FAILED, error_code=code))
    assert (data["errorCode"], data["error"], data["errorMessage"]) == (code, SENTENCES[code], SENTENCES[code])


def test_a_failure_without_a_code_still_says_something() -> None:
    data = data_of(fact(Status.FAILED))
    assert data["error"] == UNNAMED_FAILURE
    assert "errorCode" not in data


def test_only_failures_speak_of_errors() -> None:
    assert "error" not in data_of(fact(Status.READ, error_code=ErrorCode.UNCONFIRMED))


def test_nothing_kept_gives_an_empty_recipient_and_no_content() -> None:
    data = data_of(fact(), None)
    assert data["to"] == ""
    assert "content" not in data


@pytest.mark.parametrize(
    ("sender", "shown"),
    [(None, None), ("551130001000", "+551130001000"), ("+551130001000", "+551130001000"), ("Acme", None)],
)
def test_from_is_the_numbers_phone_where_it_is_known(sender: str | None, shown: str | None) -> None:
    content = MessageContent(to="5511912345678", text="Olá", sender=sender)
    assert data_of(fact(), content).get("from") == shown


def test_text_stays_as_it_is() -> None:
    text = 'Olá 👩‍👩‍👧 "ç" </script> \u2028 1.0 1e3\n\\'
    body = body_of(fact(), "message.delivered", MessageContent(to="5511912345678", text=text))
    assert json.loads(body)["data"]["content"] == text
    assert "👩‍👩‍👧".encode() in body


def test_times_are_utc_with_milliseconds() -> None:
    assert iso_ms(datetime(2026, 1, 1, 21, 0, tzinfo=timezone(timedelta(hours=-3)))) == "2026-01-02T00:00:00.000Z"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Media(media_type=MediaType.IMAGE, media="https://example.com/a.png"), {"type": "image", "mediaType": "image"}),
        (Media(media_type=MediaType.VOICE, media="https://example.com/a.ogg"), {"type": "audio", "mediaType": "audio"}),
        (
            Media(media_type=MediaType.DOCUMENT, media="https://example.com/a.pdf", file_name="a.pdf"),
            {"type": "document", "mediaFilename": "a.pdf"},
        ),
    ],
)
def test_files_are_told_in_words_the_sdk_knows(part: Media, expected: dict[str, str]) -> None:
    text = "" if part.media_type is MediaType.VOICE else "look"
    content = MessageContent(to="5511912345678", text=text, part=part)
    body = json.loads(body_of(fact(), "message.delivered", content))
    assert expected.items() <= body["data"].items()
    assert body["data"].get("mediaCaption") == (text or None)
    assert parse_customer_webhook(body, unknown_events="raise")["event"] == "message.delivered"
