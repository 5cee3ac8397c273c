"""The decision table of sends, row by row: what Evolution answers and what is certain after it."""

import json
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.evolution.evidence import judge_failure, judge_reply
from gateways.evolution.reply import Reply
from gateways.port import Answer, NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown, UnknownReason

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
RECIPIENT = "5547991234567"
PRISMA_AFTER_SEND = (
    "PrismaClientKnownRequestError: \nInvalid `this.prismaRepository.message.create()` invocation in\n"
    f'data: {{ key: {{ remoteJid: "{RECIPIENT}@s.whatsapp.net" }}, message: {{ conversation: "segredo" }} }}'
)


def envelope(status: int, message: object, error: str = "Bad Request") -> Reply:
    body = {"status": status, "error": error, "response": {"message": message}}
    return Reply(status=status, body=json.dumps(body).encode())


def judged(reply: Reply) -> Answer:
    return judge_reply(reply, now=NOW, private=f"{RECIPIENT} um segredo")


def reading(name: str) -> str:
    return f"Cannot read properties of undefined (reading '{name}')"


REFUSED = [
    pytest.param(envelope(401, "Unauthorized"), RefusalCode.GATEWAY_AUTH_FAILED, id="case_40_401"),
    pytest.param(Reply(status=401), RefusalCode.GATEWAY_AUTH_FAILED, id="401_without_body"),
    pytest.param(Reply(status=403, body=b"<html>"), RefusalCode.GATEWAY_AUTH_FAILED, id="403_from_a_proxy"),
    pytest.param(
        envelope(404, ['The "nope" instance does not exist']), RefusalCode.INSTANCE_NOT_FOUND, id="case_40_404_instance"
    ),
    pytest.param(envelope(404, ["Cannot POST /message/sendText"]), RefusalCode.GATEWAY_REFUSED, id="404_route"),
    pytest.param(
        envelope(400, [['instance requires property "text"']]),
        RefusalCode.GATEWAY_REFUSED,
        id="case_38f_case_40_schema_violation",
    ),
    pytest.param(
        envelope(400, [["Invalid format", "Enter a value in milliseconds"]]),
        RefusalCode.GATEWAY_REFUSED,
        id="case_39_delay_as_text_several_violations",
    ),
    pytest.param(
        envelope(400, "Expected property name or '}' in JSON at position 1", "Internal Server Error"),
        RefusalCode.GATEWAY_REFUSED,
        id="malformed_json",
    ),
    pytest.param(envelope(400, ["Text is required"]), RefusalCode.GATEWAY_REFUSED, id="blank_text"),
    pytest.param(
        envelope(400, ["Maximum of 3 reply buttons allowed"]), RefusalCode.GATEWAY_REFUSED, id="too_many_buttons"
    ),
    pytest.param(
        envelope(400, [{"jid": f"{RECIPIENT}@s.whatsapp.net", "exists": False, "number": RECIPIENT}]),
        RefusalCode.WHATSAPP_NOT_EXIST,
        id="case_40_not_on_whatsapp",
    ),
    pytest.param(envelope(413, "request entity too large"), RefusalCode.GATEWAY_REFUSED, id="413_body_too_large"),
]

NOT_SENT = [
    pytest.param(envelope(400, ["SessionError: No sessions"]), NotSentReason.GATEWAY_ERROR, id="case_40_no_sessions"),
    pytest.param(
        envelope(400, ["Error: Connection Closed"]), NotSentReason.DISCONNECTED, id="case_40_connection_closed_400"
    ),
    pytest.param(
        envelope(500, "Connection Closed"), NotSentReason.DISCONNECTED, id="case_40_case_41_connection_closed_500"
    ),
    pytest.param(
        envelope(500, reading("onWhatsApp")), NotSentReason.INSTANCE_NOT_READY, id="case_41_never_connected_500"
    ),
    pytest.param(
        envelope(400, [f"TypeError: {reading('onWhatsApp')}"]), NotSentReason.INSTANCE_NOT_READY, id="case_41_400"
    ),
    pytest.param(
        envelope(400, [f"TypeError: {reading('sendMessage')}"]), NotSentReason.INSTANCE_NOT_READY, id="no_socket_400"
    ),
    pytest.param(envelope(500, reading("textMessage")), NotSentReason.INSTANCE_NOT_READY, id="not_loaded_500"),
    pytest.param(envelope(500, reading("find")), NotSentReason.GATEWAY_ERROR, id="existence_query_timed_out"),
    pytest.param(envelope(400, ["[object Object]"]), NotSentReason.GATEWAY_ERROR, id="metadata_unavailable"),
    pytest.param(Reply(status=429, body=b"slow down"), NotSentReason.RATE_LIMITED, id="case_40_429"),
    pytest.param(
        Reply(status=503, body=b'{"error":"service not activated","code":"LICENSE_REQUIRED","message":"x"}'),
        NotSentReason.GATEWAY_ERROR,
        id="licence_required_503",
    ),
]

UNKNOWN = [
    pytest.param(envelope(500, "Something broke"), UnknownReason.UNCLASSIFIED_ANSWER, id="case_38a_500_after_the_echo"),
    pytest.param(
        envelope(400, [PRISMA_AFTER_SEND]), UnknownReason.STORED_AFTER_SEND_FAILED, id="case_38b_database_error_after"
    ),
    pytest.param(envelope(500, "Timed Out"), UnknownReason.TIMEOUT, id="case_40_500_timed_out"),
    pytest.param(envelope(400, ["Error: Timed Out"]), UnknownReason.TIMEOUT, id="400_timed_out"),
    pytest.param(
        envelope(500, "Invalid `prisma.contact.findFirst()` invocation"),
        UnknownReason.UNCLASSIFIED_ANSWER,
        id="500_database_down",
    ),
    pytest.param(
        envelope(400, ["TypeError: this.isZero is not a function"]), UnknownReason.UNCLASSIFIED_ANSWER, id="is_zero"
    ),
    pytest.param(envelope(400, ["whatever"]), UnknownReason.UNCLASSIFIED_ANSWER, id="400_of_unknown_text"),
    pytest.param(envelope(400, []), UnknownReason.UNCLASSIFIED_ANSWER, id="400_without_text"),
    pytest.param(
        envelope(400, ["Error: store failed after send: Connection Closed"]),
        UnknownReason.UNCLASSIFIED_ANSWER,
        id="known_words_inside_other_words",
    ),
    pytest.param(
        Reply(status=500, body=b'{"status":502,"response":{"message":"Connection Closed"}}'),
        UnknownReason.UNCLASSIFIED_ANSWER,
        id="envelope_of_another_status",
    ),
    pytest.param(envelope(400, [reading("find")]), UnknownReason.UNCLASSIFIED_ANSWER, id="400_reading_find"),
    pytest.param(envelope(400, [{"exists": True}]), UnknownReason.UNCLASSIFIED_ANSWER, id="400_exists_true"),
    pytest.param(
        Reply(status=400, body=b'{"message":[["x"]]}'), UnknownReason.UNCLASSIFIED_ANSWER, id="400_without_envelope"
    ),
    pytest.param(
        Reply(status=500, body=b'{"message":"Connection Closed"}'),
        UnknownReason.UNCLASSIFIED_ANSWER,
        id="500_without_envelope",
    ),
    pytest.param(
        Reply(status=502, body=b"<html>Bad Gateway</html>"), UnknownReason.UNREADABLE_ANSWER, id="case_40_502_html"
    ),
    pytest.param(Reply(status=503, body=b"unavailable"), UnknownReason.UNREADABLE_ANSWER, id="503_from_a_proxy"),
    pytest.param(envelope(503, "later"), UnknownReason.UNCLASSIFIED_ANSWER, id="503_with_json"),
    pytest.param(Reply(status=504), UnknownReason.UNREADABLE_ANSWER, id="504_without_body"),
    pytest.param(Reply(status=404, body=b"<html>"), UnknownReason.UNREADABLE_ANSWER, id="404_from_a_proxy"),
    pytest.param(Reply(status=413, body=b"<html>"), UnknownReason.UNREADABLE_ANSWER, id="413_from_a_proxy"),
    pytest.param(Reply(status=301), UnknownReason.UNREADABLE_ANSWER, id="redirect_is_not_followed"),
    pytest.param(Reply(status=200), UnknownReason.UNREADABLE_ANSWER, id="case_40_200_empty"),
    pytest.param(Reply(status=201, body=b'{"status":"PENDING"}'), UnknownReason.UNREADABLE_ANSWER, id="case_40_no_key"),
    pytest.param(Reply(status=201, body=b'{"key":{"id":""}}'), UnknownReason.UNREADABLE_ANSWER, id="201_empty_key_id"),
    pytest.param(Reply(status=201, body=b'{"key":{"id":7}}'), UnknownReason.UNREADABLE_ANSWER, id="201_numeric_key_id"),
    pytest.param(Reply(status=201, body=b"<html>"), UnknownReason.UNREADABLE_ANSWER, id="201_html"),
    pytest.param(Reply(status=400, body=b"[" * 60_000), UnknownReason.UNREADABLE_ANSWER, id="absurd_nesting"),
]


@pytest.mark.parametrize(("reply", "code"), REFUSED)
def test_case_40_refused_for_good(reply: Reply, code: RefusalCode) -> None:
    answer = judged(reply)
    assert isinstance(answer, Refused)
    assert answer.code is code


@pytest.mark.parametrize(("reply", "reason"), NOT_SENT)
def test_case_40_certainly_not_sent(reply: Reply, reason: NotSentReason) -> None:
    answer = judged(reply)
    assert isinstance(answer, NotSent)
    assert answer.reason is reason


@pytest.mark.parametrize(("reply", "reason"), UNKNOWN)
def test_case_38_nobody_can_say(reply: Reply, reason: UnknownReason) -> None:
    answer = judged(reply)
    assert isinstance(answer, Unknown)
    assert answer.reason is reason


def test_case_37_201_pending_is_taken_with_the_number_really_used() -> None:
    key = {"remoteJid": "554791234567@s.whatsapp.net", "fromMe": True, "id": "3EB03AD71895054A3AC8DB"}
    body = json.dumps({"key": key, "status": "PENDING", "message": {"conversation": "ola"}}).encode()
    assert judged(Reply(status=201, body=body)) == Taken(key_id="3EB03AD71895054A3AC8DB", recipient="554791234567")


def test_201_of_the_evolution_channel_names_the_number_as_sent() -> None:
    body = b'{"key":{"fromMe":true,"id":"0b8b6e52-3b0e-4a6e-9d4e-000000000001","remoteJid":"5547991234567"}}'
    assert judged(Reply(status=201, body=body)) == Taken(
        key_id="0b8b6e52-3b0e-4a6e-9d4e-000000000001", recipient=RECIPIENT
    )


def test_case_12_201_to_a_lid_names_no_phone() -> None:
    assert judged(Reply(status=201, body=b'{"key":{"id":"K","remoteJid":"100000000000001@lid"}}')) == Taken(key_id="K")


def test_the_key_survives_a_body_that_was_cut() -> None:
    cut = b'{"key":{"remoteJid":"5547991234567@s.whatsapp.net","fromMe":true,"id":"K9"},"message":{"jpegThumb'
    assert judged(Reply(status=201, body=cut, complete=False)) == Taken(key_id="K9", recipient=RECIPIENT)


def test_a_body_cut_inside_its_key_proves_nothing() -> None:
    answer = judged(Reply(status=201, body=b'{"key":{"remoteJid":"5547991234567@s.wh', complete=False))
    assert isinstance(answer, Unknown)


def test_a_message_key_quoted_later_in_a_cut_body_is_not_ours() -> None:
    cut = b'{"contextInfo":{"quoted":{"key":{"id":"OTHER"}}},"message":'
    assert isinstance(judged(Reply(status=201, body=cut, complete=False)), Unknown)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (httpx.ConnectError("refused"), NotSentReason.UNREACHABLE),
        (httpx.ConnectError("[Errno -2] Name or service not known"), NotSentReason.UNREACHABLE),
        (httpx.ConnectTimeout("slow"), NotSentReason.UNREACHABLE),
        (httpx.PoolTimeout("busy"), NotSentReason.UNREACHABLE),
    ],
)
def test_case_38_d_e_no_connection_is_not_sent(error: Exception, reason: NotSentReason) -> None:
    answer = judge_failure(error)
    assert isinstance(answer, NotSent)
    assert answer.reason is reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (httpx.ReadTimeout("slow"), UnknownReason.TIMEOUT),
        (httpx.WriteTimeout("slow"), UnknownReason.TIMEOUT),
        (TimeoutError(), UnknownReason.TIMEOUT),
        (httpx.ReadError("reset"), UnknownReason.CONNECTION_LOST),
        (httpx.WriteError("reset"), UnknownReason.CONNECTION_LOST),
        (httpx.RemoteProtocolError("disconnected"), UnknownReason.CONNECTION_LOST),
        (RuntimeError("surprise"), UnknownReason.UNCLASSIFIED_ANSWER),
    ],
)
def test_case_38c_case_39_after_the_connection_nobody_can_say(error: Exception, reason: UnknownReason) -> None:
    answer = judge_failure(error)
    assert isinstance(answer, Unknown)
    assert answer.reason is reason


@pytest.mark.parametrize(
    "message",
    [
        [PRISMA_AFTER_SEND],
        [f"Error: cannot reach +55 (47) 99123-4567 about um segredo {RECIPIENT}"],
        [[f'number "{RECIPIENT}" is not allowed: segredo']],
        f"{RECIPIENT} segredo\nsecond line",
        ["x" * 5_000],
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_case_40_detail_is_bounded_and_names_nobody(message: object, status: int) -> None:
    answer = judged(envelope(status, message))
    assert isinstance(answer, Unknown | Refused)
    assert len(answer.detail) <= 200
    assert "\n" not in answer.detail
    for secret in (RECIPIENT, "99123", "segredo"):
        assert secret not in answer.detail


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_bodies = st.binary(max_size=200) | _json.map(lambda body: json.dumps(body).encode())


@given(status=st.integers(100, 599), body=_bodies, complete=st.booleans(), retry_after=st.none() | st.text(max_size=40))
def test_case_40_never_an_exception_in_the_error_handler(
    status: int, body: bytes, complete: bool, retry_after: str | None
) -> None:
    reply = Reply(status=status, body=body, complete=complete, retry_after=retry_after)
    assert isinstance(judge_reply(reply, now=NOW, private="any"), Answer)


@given(status=st.sampled_from([400, 404, 413, 500, 503]), message=_json)
def test_case_40_any_message_in_the_envelope_is_judged(status: int, message: object) -> None:
    assert isinstance(judged(envelope(status, message)), Answer)
