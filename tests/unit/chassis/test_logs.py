"""A planted phone number, text and key must reach no log line, whichever way they are given."""

import asyncio
import io
import json
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from chassis.telemetry import logs
from chassis.telemetry.logs import configure_logging, get_logger, log_loop_trouble
from chassis.telemetry.redaction import mask, safe_value

PHONE = "5511987654321"
TEXT = "Segredo da Maria"
MESSAGE_ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


class Output(io.StringIO):
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]

    def assert_clean(self) -> None:
        written = self.getvalue()
        assert written, "nothing was logged, so nothing was tested"
        for planted in (PHONE, "98765", "4321", TEXT, "Segredo", "Maria"):
            assert planted not in written


@pytest.fixture
def output() -> Iterator[Output]:
    root = logging.getLogger()
    handlers, level, hooks = root.handlers[:], root.level, (sys.excepthook, threading.excepthook, sys.unraisablehook)
    stream = Output()
    configure_logging("tester", "DEBUG", fields=["message_id"], stream=stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
    logging.captureWarnings(False)


def test_an_event_is_one_json_line_with_its_allowed_fields(output: Output) -> None:
    get_logger("a.b").info("attempt_settled", message_id=MESSAGE_ID, outcome="taken", duration_ms=12, count=None)
    (line,) = output.lines()
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "service": "tester",
        "logger": "a.b",
        "event": "attempt_settled",
        "message_id": str(MESSAGE_ID),
        "outcome": "taken",
        "duration_ms": 12,
        "count": None,
    }


def test_fields_beyond_the_list_are_dropped_and_counted(output: Output) -> None:
    get_logger("a").warning("sent", recipient=PHONE, text=TEXT, outcome="ok")
    (line,) = output.lines()
    assert line["fields_dropped"] == 2
    assert line["outcome"] == "ok"
    output.assert_clean()


@pytest.mark.parametrize(
    "value",
    [
        PHONE,
        int(PHONE),
        f"+55 (11) 98765-4321 {TEXT}",
        TEXT,
        f"to:{PHONE}",
        "11.98765.4321",
        [PHONE],
        {"a": TEXT},
        TEXT.encode(),
    ],
)
def test_allowed_fields_hold_no_phone_number_prose_or_object(output: Output, value: object) -> None:
    get_logger("a").info("sent", reason=value)
    output.assert_clean()


def test_an_event_name_is_a_constant_word(output: Output) -> None:
    get_logger("a").info(f"sent {TEXT} to {PHONE}")
    assert output.lines()[0]["event"] == "unnamed_event"
    output.assert_clean()


class StatementError(Exception):
    """Quotes its parameters, as database drivers do."""

    sqlstate = "23505"


def _fail() -> None:
    try:
        raise ConnectionResetError(104, f"reset while sending {TEXT}")
    except ConnectionResetError as reset:
        raise StatementError(f"INSERT ... ('{PHONE}', '{TEXT}')") from reset


def test_exceptions_show_types_codes_and_places_but_no_message(output: Output) -> None:
    try:
        _fail()
    except StatementError as error:
        get_logger("a").exception("insert_failed")
        get_logger("a").warning("insert_failed_softly", error=error)
    hard, soft = output.lines()
    assert hard["error_type"].endswith("StatementError")
    assert hard["caused_by"] == ["ConnectionResetError"]
    assert (hard["sqlstate"], hard["errno"]) == ("23505", 104)
    assert "_fail" in hard["stack"][-1]
    assert soft["error_type"] == hard["error_type"]
    assert "stack" not in soft
    output.assert_clean()


def test_exception_groups_and_endless_causes_are_described(output: Output) -> None:
    first, second = ValueError(TEXT), KeyError(PHONE)
    first.__cause__, second.__cause__ = second, first
    get_logger("a").warning("odd", error=first)
    get_logger("a").warning("odd", error=ExceptionGroup(TEXT, [OSError(PHONE)]))
    assert [line["caused_by"] for line in output.lines()] == [["KeyError"], ["OSError"]]
    output.assert_clean()


def test_libraries_show_their_literal_message_and_place_only(output: Output) -> None:
    library = logging.getLogger("aiormq.connection")
    library.warning("could not reach %r", f"{PHONE} {TEXT}")
    library.warning(f"could not reach {TEXT}")
    library.warning("could not reach {TEXT} {PHONE}".format(TEXT=TEXT, PHONE=PHONE))  # noqa: UP032
    library.warning({"to": PHONE})
    library.info("quiet")
    shown, *hidden = output.lines()
    assert shown["message"] == "could not reach %r"
    assert shown["at"].startswith("test_logs.test_libraries")
    assert len(hidden) == 3
    assert all("message" not in line for line in hidden)
    output.assert_clean()


def test_library_exceptions_show_no_message(output: Output) -> None:
    try:
        raise RuntimeError(f"{PHONE} {TEXT}")
    except RuntimeError:
        logging.getLogger("uvicorn.error").exception("Exception in application")
    (line,) = output.lines()
    assert (line["message"], line["error_type"]) == ("Exception in application", "RuntimeError")
    output.assert_clean()


def test_access_log_is_silent(output: Output) -> None:
    logging.getLogger("uvicorn.access").critical("GET /v1/x")
    get_logger("a").info("still_here")
    assert [line["event"] for line in output.lines()] == ["still_here"]


def test_warnings_and_uncaught_exceptions_go_the_same_way(output: Output) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn(f"{PHONE} {TEXT}", stacklevel=1)
        logging.captureWarnings(False)
    error = ValueError(f"{PHONE} {TEXT}")
    sys.excepthook(ValueError, error, None)
    assert output.lines()[-1]["event"] == "uncaught_exception"
    assert len(output.lines()) == 2
    output.assert_clean()


def _raise(error: Exception) -> None:
    raise error


class Undying:
    def __del__(self) -> None:
        raise ValueError(f"{PHONE} {TEXT}")


def test_threads_and_finalizers_that_fail_go_the_same_way(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    thread = threading.Thread(target=_raise, args=(ValueError(f"{PHONE} {TEXT}"),))
    thread.start()
    thread.join(timeout=5)
    Undying()
    assert [line["event"] for line in output.lines()] == ["uncaught_exception"] * 2
    assert capsys.readouterr().err == ""
    output.assert_clean()


async def test_event_loop_trouble_is_redacted(output: Output) -> None:
    loop = asyncio.get_running_loop()
    previous = loop.get_exception_handler()
    loop.set_exception_handler(log_loop_trouble)
    loop.call_exception_handler({"message": "Task exception was never retrieved", "exception": ValueError(TEXT)})
    loop.call_exception_handler({"message": f"Exception in callback send({PHONE!r})"})
    loop.set_exception_handler(previous)
    first, second = output.lines()
    assert (first["reason"], first["error_type"]) == ("task_exception_was_never_retrieved", "ValueError")
    assert second["reason"] is None
    output.assert_clean()


class BrokenStream(io.StringIO):
    def write(self, text: str) -> int:
        if TEXT in text or "event_ok" in text:
            raise OSError("disk full")
        return super().write(text)


def test_a_line_that_cannot_be_written_does_not_spill_its_arguments(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = BrokenStream()
    configure_logging("tester", stream=stream)
    get_logger("a").info("event_ok", reason=PHONE)
    assert "log_line_lost" in stream.getvalue()
    assert capsys.readouterr().err == ""


def test_lone_surrogates_do_not_lose_the_line(output: Output) -> None:
    get_logger("a").info("odd_text", reason="\ud800x")
    assert output.lines()[0]["reason"] == "?x"


def test_threads_log_through_the_same_formatter(output: Output) -> None:
    thread = threading.Thread(target=lambda: get_logger("a").info("from_thread", reason=PHONE))
    thread.start()
    thread.join(timeout=5)
    assert output.lines()[0]["event"] == "from_thread"
    output.assert_clean()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (str(MESSAGE_ID), str(MESSAGE_ID)),
        ("0af7651916cd43dd8448eb211c80319c", "0af7651916cd43dd8448eb211c80319c"),
        ("2026-01-31T10:00:00.123Z", "2026-01-31T10:00:00.123Z"),
        ("12345", "12345"),
        ("123456", "***"),
        ("1234567890123456", "***"),
        (True, True),
        (1.5, 1.5),
        (9_999_999_999, 9_999_999_999),
        (10_000_000_000, "***"),
        (logs, "<module>"),
    ],
)
def test_safe_values(value: object, shown: object) -> None:
    assert safe_value(value) == shown


def test_mask_bounds_length() -> None:
    assert len(mask("x" * 10_000)) == 200
