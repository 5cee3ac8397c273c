"""Frames packed by hand are what the AMQP library reads, field by field."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pamqp import frame
from pamqp.body import ContentBody
from pamqp.commands import Basic
from pamqp.header import ContentHeader

from chassis.publish_frames import Outgoing, PublishFrames

AT = datetime(2030, 1, 31, 12, 0, 0, 987_654, tzinfo=UTC)
CHANNEL = 7


def outgoing(*, body: bytes = b"{}", routing_key: str = "note.noted", traceparent: str | None = None) -> Outgoing:
    return Outgoing(
        statement_id=uuid4(),
        exchange="pilot.facts",
        routing_key=routing_key,
        type="note.noted.v1",
        body=body,
        traceparent=traceparent,
        said_at=AT,
    )


def packed(item: Outgoing, *, body_bytes_max: int = 131_064) -> list[object]:
    """All frames, read by the library; each must name the channel."""
    data = PublishFrames(source="test", channel=CHANNEL, body_bytes_max=body_bytes_max).pack(item)
    frames: list[object] = []
    while data:
        size, channel, value = frame.unmarshal(data)
        assert channel == CHANNEL
        frames.append(value)
        data = data[size:]
    return frames


def test_method_header_and_body_say_everything_about_a_statement() -> None:
    item = outgoing(body='{"text": "olá"}'.encode(), traceparent="00-aa-bb-01")
    publish, header, body = packed(item)
    assert isinstance(publish, Basic.Publish)
    assert (publish.exchange, publish.routing_key) == ("pilot.facts", "note.noted")
    assert (publish.mandatory, publish.immediate) == (True, False)
    assert isinstance(header, ContentHeader)
    assert header.body_size == len(item.body)
    said = header.properties
    assert (said.message_id, said.message_type, said.app_id) == (str(item.statement_id), "note.noted.v1", "test")
    assert (said.content_type, said.delivery_mode) == ("application/json", 2)
    assert said.timestamp == AT.replace(microsecond=0)
    assert said.headers == {
        "cloudEvents:id": str(item.statement_id),
        "cloudEvents:source": "/pilot/test",
        "cloudEvents:type": "note.noted.v1",
        "cloudEvents:time": AT.isoformat(),
        "cloudEvents:specversion": "1.0",
        "traceparent": "00-aa-bb-01",
    }
    assert isinstance(body, ContentBody)
    assert body.value == item.body


def test_without_a_trace_there_is_no_such_header() -> None:
    header = packed(outgoing())[1]
    assert isinstance(header, ContentHeader)
    assert "traceparent" not in (header.properties.headers or {})


@pytest.mark.parametrize(("length", "frames"), [(0, 0), (1, 1), (100, 1), (101, 2), (250, 3)])
def test_a_body_is_cut_into_frames_that_the_broker_takes(length: int, frames: int) -> None:
    item = outgoing(body=bytes(number % 256 for number in range(length)))
    _, _, *bodies = packed(item, body_bytes_max=100)
    assert len(bodies) == frames
    assert b"".join(body.value for body in bodies if isinstance(body, ContentBody)) == item.body


def test_a_name_longer_than_amqp_can_say_is_refused_and_the_longest_is_not() -> None:
    publish = packed(outgoing(routing_key="k" * 255))[0]
    assert isinstance(publish, Basic.Publish)
    assert publish.routing_key == "k" * 255
    with pytest.raises(ValueError, match="256 bytes"):
        packed(outgoing(routing_key="é" * 128))
