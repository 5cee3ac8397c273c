"""One JSON line per event on stderr: a constant name and allow-listed fields, so that personal data cannot slip in."""

import asyncio
import logging
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import orjson
from opentelemetry.trace import get_current_span

from chassis.telemetry.redaction import describe_error, foreign_message, safe_value, stack_of

# fmt: off
GENERIC_FIELDS: Final = frozenset({
    "action", "attempt", "attempts", "batch", "bytes", "check", "code", "consumer", "count", "delay_seconds",
    "delivery_count", "depth", "duration_ms", "exchange", "failed", "host", "loop", "method", "outcome", "pid",
    "port", "previous", "queue", "reason", "redelivered", "request_id", "retry_after_seconds", "route", "routing_key",
    "rows", "schema", "signal", "size", "source", "stage", "state", "status", "step", "task", "timeout_seconds",
    "topic", "type", "version", "worker",
})
"""Fields any service may log; `configure_logging(fields=...)` adds the service's own."""

_QUIET_LOGGERS: Final = (
    "aio_pika", "aiormq", "alembic", "asyncpg", "asyncio", "faststream", "httpcore", "httpx", "opentelemetry",
    "sqlalchemy", "uvicorn", "uvicorn.error",
)
_SILENT_LOGGERS: Final = ("uvicorn.access",)
# fmt: on
_EVENT: Final = re.compile(r"[a-z][a-z0-9_]{1,63}")
_PLAIN_SENTENCE: Final = re.compile(r"[A-Za-z][A-Za-z ]{0,59}")
_MARK: Final = "chassis_fields"


class Logger:
    """Logs named events: `logger.info("batch_published", count=12)`. Unknown fields are dropped and counted."""

    __slots__ = ("_logger",)

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def debug(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        """Of interest while developing."""
        self._log(logging.DEBUG, event, error, fields)

    def info(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        """The wide line of one attempt."""
        self._log(logging.INFO, event, error, fields)

    def warning(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        """Trouble the service deals with by itself; `error` adds its type, not its stack."""
        self._log(logging.WARNING, event, error, fields)

    def error(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        """An operator must act."""
        self._log(logging.ERROR, event, error, fields)

    def exception(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        """Someone must change code: adds the stack of `error`, by default of the exception being handled."""
        cause = error if error is not None else sys.exc_info()[1]
        self._log(logging.ERROR, event, cause, fields, exc_info=cause)

    def _log(
        self,
        level: int,
        event: str,
        error: BaseException | None,
        fields: Mapping[str, object],
        exc_info: BaseException | None = None,
    ) -> None:
        if self._logger.isEnabledFor(level):
            known = {**fields, "error": error} if error is not None else fields
            self._logger.log(level, event, exc_info=exc_info, extra={_MARK: known})


def get_logger(name: str) -> Logger:
    """The logger of a module."""
    return Logger(logging.getLogger(name))


def configure_logging(
    service: str, level: str = "INFO", *, fields: Iterable[str] = (), stream: TextIO | None = None
) -> None:
    """Send every log of this process, libraries included, through one redacting JSON formatter."""
    handler = _RedactingHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(service, allowed=GENERIC_FIELDS | frozenset(fields)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET_LOGGERS:
        _hand_over(name, max(logging.WARNING, root.level))
    for name in _SILENT_LOGGERS:
        _hand_over(name, logging.CRITICAL + 1)
    logging.captureWarnings(True)
    sys.excepthook = lambda _kind, error, _traceback: _log_uncaught(error)
    threading.excepthook = lambda uncaught: _log_uncaught(uncaught.exc_value)
    sys.unraisablehook = lambda unraisable: _log_uncaught(unraisable.exc_value)


def log_loop_trouble(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """An event loop's exception handler (`loop.set_exception_handler`); the default one prints exception messages."""
    message = str(context.get("message", ""))
    reason = message.replace(" ", "_").lower() if _PLAIN_SENTENCE.fullmatch(message) else None
    get_logger("asyncio").exception("unhandled_in_event_loop", error=context.get("exception"), reason=reason)


class JsonFormatter(logging.Formatter):
    """Own events keep their allowed fields; a library's record its place, its literal message and its error's type."""

    def __init__(self, service: str, *, allowed: frozenset[str]) -> None:
        super().__init__()
        self._service = service
        self._allowed = allowed

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "service": self._service,
            "logger": record.name,
        }
        fields = record.__dict__.get(_MARK)
        line.update(self._own(record, fields) if isinstance(fields, Mapping) else _foreign(record))
        span = get_current_span().get_span_context()
        if span.is_valid:
            line["trace_id"] = f"{span.trace_id:032x}"
            line["span_id"] = f"{span.span_id:016x}"
        if record.exc_info and record.exc_info[1] is not None:
            line.update(describe_error(record.exc_info[1]))
            line["stack"] = stack_of(record.exc_info[2])
        return orjson.dumps(line).decode()

    def _own(self, record: logging.LogRecord, fields: Mapping[str, object]) -> dict[str, Any]:
        line: dict[str, Any] = {"event": record.msg if _EVENT.fullmatch(record.msg) else "unnamed_event"}
        dropped = 0
        for name, value in fields.items():
            if name == "error" and isinstance(value, BaseException):
                line.update(describe_error(value))
            elif name in self._allowed:
                line[name] = safe_value(value)
            else:
                dropped += 1
        if dropped:
            line["fields_dropped"] = dropped
        return line


def _foreign(record: logging.LogRecord) -> dict[str, Any]:
    line: dict[str, Any] = {"event": "library_log", "at": f"{record.module}.{record.funcName}:{record.lineno}"}
    message = foreign_message(record)
    if message is not None:
        line["message"] = message
    return line


class _RedactingHandler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:
        """The inherited one prints the record's arguments to stderr."""
        try:
            self.stream.write('{"level":"error","event":"log_line_lost"}\n')
        except (OSError, ValueError):
            return


def _hand_over(name: str, level: int) -> None:
    logger = logging.getLogger(name)
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(level)


def _log_uncaught(error: BaseException | None) -> None:
    """The interpreter's own hooks print the exception's message."""
    if not isinstance(error, KeyboardInterrupt | SystemExit):
        get_logger("process").exception("uncaught_exception", error=error)
