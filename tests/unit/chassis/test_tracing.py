"""A trace must survive the way through outbox and broker as one line of text, and hold no personal data."""

import re
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chassis.telemetry import tracing as tracing_module
from chassis.telemetry.tracing import SpanKind, configure_tracing, current_traceparent, span

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def tracing() -> Iterator[None]:
    tracing = configure_tracing("tester", processor=SimpleSpanProcessor(EXPORTER))
    yield
    tracing.stop()
    trace._TRACER_PROVIDER = None
    trace._TRACER_PROVIDER_SET_ONCE._done = False


@pytest.fixture
def exported() -> InMemorySpanExporter:
    EXPORTER.clear()
    return EXPORTER


def test_outside_a_span_there_is_no_traceparent() -> None:
    assert current_traceparent() is None


def test_a_child_continues_the_given_parent_and_hands_itself_on(exported: InMemorySpanExporter) -> None:
    with span("publish", parent=PARENT, kind=SpanKind.PRODUCER):
        handed_on = current_traceparent()
    assert handed_on is not None
    assert re.fullmatch(r"00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01", handed_on)
    with span("consume", parent=handed_on):
        pass
    first, second = exported.get_finished_spans()
    assert first.parent is not None
    assert f"{first.parent.span_id:016x}" == "b7ad6b7169203331"
    assert second.parent is not None
    assert first.context is not None
    assert second.parent.span_id == first.context.span_id


def test_nested_spans_share_a_trace_and_restore_the_outer_one() -> None:
    with span("outer"):
        outer = current_traceparent()
        with span("inner"):
            inner = current_traceparent()
        assert current_traceparent() == outer
    assert outer is not None
    assert inner is not None
    assert outer.split("-")[1] == inner.split("-")[1]
    assert outer.split("-")[2] != inner.split("-")[2]


@pytest.mark.parametrize(
    "parent", ["", "junk", PARENT.upper(), "ff" + PARENT[2:], "00-" + "0" * 32 + "-" + "0" * 16 + "-01", PARENT[:-3]]
)
def test_an_unreadable_parent_starts_a_new_trace_even_inside_a_span(parent: str) -> None:
    with span("outer"):
        outer = current_traceparent()
        with span("consume", parent=parent):
            inner = current_traceparent()
    assert outer is not None
    assert inner is not None
    assert inner.split("-")[1] not in (outer.split("-")[1], PARENT.split("-")[1], "0" * 32)


def test_a_failure_is_marked_by_type_without_its_message(exported: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="5511987654321"), span("send", attributes={"to": "5511987654321", "n": 3}):
        raise ValueError("5511987654321")
    (finished,) = exported.get_finished_spans()
    assert dict(finished.attributes or {}) == {"to": "***", "n": 3, "error.type": "ValueError"}
    assert not finished.status.is_ok
    assert finished.events == ()
    assert "5511987654321" not in finished.to_json()


def test_without_an_exporter_work_still_has_a_trace_that_is_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing_module._state, "exports", False)
    with span("new"):
        outer = current_traceparent()
        assert outer is not None
        with span("inner") as inner:
            assert not inner.is_recording()
            assert current_traceparent() not in (None, outer)
            assert str(current_traceparent())[:35] == outer[:35]
        assert current_traceparent() == outer
    with span("given", parent=PARENT):
        continued = current_traceparent()
        assert continued is not None
        assert continued[:35] == PARENT[:35]
        assert continued[-2:] == PARENT[-2:]
        assert continued != PARENT
    assert current_traceparent() is None
