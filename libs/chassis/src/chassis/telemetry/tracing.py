"""Traces that follow the work through outbox and broker: W3C `traceparent` in, spans, `traceparent` out."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from chassis.telemetry.redaction import describe_error, safe_value

__all__ = ["SpanKind", "Tracing", "configure_tracing", "current_traceparent", "span"]

_TRACEPARENT: Final = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_QUEUE_SIZE_MAX: Final = 2048
_EXPORT_INTERVAL_MS: Final = 2000
_EXPORT_TIMEOUT_SECONDS: Final = 5

_tracer: Final = trace.get_tracer("chassis")  # finds its provider once there is one; asking each time costs 10 us


class _State:
    """Of the process: whether spans go anywhere. Where they do not, an id is all that a span is."""

    exports = True


_state: Final = _State()
_ids: Final = RandomIdGenerator()


class Tracing:
    """The tracing of this process; `stop` flushes what is not exported yet."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider

    def stop(self) -> None:
        """Flush and end; blocks up to the export timeout, so call it in a thread."""
        self._provider.shutdown()


def configure_tracing(
    service: str,
    *,
    endpoint: str | None = None,
    sample_ratio: float = 1.0,
    processor: SpanProcessor | None = None,
) -> Tracing:
    """Start tracing for the process, once.

    Without `endpoint` (the base address of an OTLP/HTTP collector) nothing is recorded, yet every unit of work still
    has a trace id that its logs and statements carry. `processor` replaces the exporter.
    """
    exporting = endpoint is not None or processor is not None
    sampler = ParentBased(TraceIdRatioBased(sample_ratio) if exporting else ALWAYS_OFF)
    provider = TracerProvider(
        sampler=sampler, resource=Resource.create({"service.name": service}), shutdown_on_exit=False
    )
    if processor is not None:
        provider.add_span_processor(processor)
    elif endpoint is not None:
        provider.add_span_processor(_exporting_to(endpoint))
    trace.set_tracer_provider(provider)
    _state.exports = exporting
    return Tracing(provider)


def current_traceparent() -> str | None:
    """The W3C header value of the work under way, None outside any span."""
    current = trace.get_current_span().get_span_context()
    if not current.is_valid:
        return None
    return f"00-{current.trace_id:032x}-{current.span_id:016x}-{current.trace_flags:02x}"


@contextmanager
def span(
    name: str,
    *,
    parent: str | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Mapping[str, object] | None = None,
) -> Iterator[Span]:
    """One unit of work, child of the `parent` traceparent or else of the current span.

    An exception marks the span as failed by its type alone; an unreadable `parent` starts a new trace.
    """
    started = (
        _tracer.start_span(
            name, context=_context_of(parent), kind=kind, record_exception=False, set_status_on_exception=False
        )
        if _state.exports
        else _bare_span(parent)
    )
    if attributes and started.is_recording():
        started.set_attributes({key: safe_value(value) or "" for key, value in attributes.items()})
    token = otel_context.attach(trace.set_span_in_context(started))
    try:
        yield started
    except Exception as error:
        if started.is_recording():
            started.set_attribute("error.type", str(describe_error(error)["error_type"]))
            started.set_status(Status(StatusCode.ERROR))
        raise
    finally:
        otel_context.detach(token)
        started.end()


def _bare_span(parent: str | None) -> Span:
    """A span that is only passed on: the SDK's own costs five times as much to drop at its end."""
    above = trace.get_current_span(_context_of(parent)).get_span_context()
    trace_id = above.trace_id if above.is_valid else _ids.generate_trace_id()
    return NonRecordingSpan(SpanContext(trace_id, _ids.generate_span_id(), False, above.trace_flags))


def _context_of(parent: str | None) -> Context | None:
    if parent is None:
        return None
    match = _TRACEPARENT.fullmatch(parent)
    if match is None:
        return Context()
    trace_id, span_id, flags = (int(part, 16) for part in match.groups())
    remote = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags & TraceFlags.SAMPLED))
    return trace.set_span_in_context(NonRecordingSpan(remote), Context())


def _exporting_to(endpoint: str) -> SpanProcessor:
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=_EXPORT_TIMEOUT_SECONDS)
    return BatchSpanProcessor(
        exporter,
        max_queue_size=_QUEUE_SIZE_MAX,
        schedule_delay_millis=_EXPORT_INTERVAL_MS,
        export_timeout_millis=_EXPORT_TIMEOUT_SECONDS * 1000,
    )
