"""The whole table from what a gateway was seen to do to what is certain, each row by the case that taught it."""

import json
import ssl
from datetime import UTC, datetime

import httpx
import pytest

from gateways.evolution.evidence import judge_failure, judge_reply
from gateways.evolution.reply import Reply
from gateways.port import Answer, NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown, UnknownReason

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
JID = "5521900001111@s.whatsapp.net"
KEY_ID = "3EB03AD71895054A3AC8DB"
KEY = {"remoteJid": JID, "fromMe": True, "id": KEY_ID}
PRISMA_AFTER = "PrismaClientKnownRequestError: \nInvalid `this.prismaRepository.message.create()` invocation in …"
PRISMA_BEFORE = "\nInvalid `this.prismaRepository.isOnWhatsapp.findFirst()` invocation: Can't reach database server"
BOOM = {"data": None, "isBoom": True, "output": {"statusCode": 428, "payload": {"message": "Connection Closed"}}}
LICENCE = {"error": "service not activated", "code": "LICENSE_REQUIRED", "message": "register"}


def said(status: int, message: object) -> Reply:
    """Evolution's own envelope."""
    return bare(status, {"status": status, "error": "…", "response": {"message": message}})


def bare(status: int, body: object) -> Reply:
    return Reply(status=status, body=body if isinstance(body, bytes) else json.dumps(body).encode())


def no(name: str, kind: str = "") -> str:
    return f"{kind}Cannot read properties of undefined (reading '{name}')"


REFUSED_ROWS: list[tuple[str, Reply, RefusalCode]] = [
    ("unknown instance", said(404, ['The "nope" instance does not exist']), RefusalCode.INSTANCE_NOT_FOUND),
    ("unknown instance, other words", said(404, ['Instance "nope" not found']), RefusalCode.INSTANCE_NOT_FOUND),
    ("unknown route", said(404, ["Cannot POST /message/sendText/x"]), RefusalCode.GATEWAY_REFUSED),
    ("bad key, text", said(401, "Unauthorized"), RefusalCode.GATEWAY_AUTH_FAILED),
    ("key of another instance", said(401, ["Unauthorized"]), RefusalCode.GATEWAY_AUTH_FAILED),
    ("forbidden by whatever stands before it", bare(403, b"<html>"), RefusalCode.GATEWAY_AUTH_FAILED),
    ("case 38f: schema", said(400, [['instance requires property "text"']]), RefusalCode.GATEWAY_REFUSED),
    ("case 39: delay as text", said(400, [["Enter a value in milliseconds"]]), RefusalCode.GATEWAY_REFUSED),
    ("several violations", said(400, [["Invalid format", "Enter a value"]]), RefusalCode.GATEWAY_REFUSED),
    ("unknown button type", said(400, [["buttons[0].type is not one of enum values"]]), RefusalCode.GATEWAY_REFUSED),
    ("malformed JSON", said(400, "Expected property name or '}' in JSON at position 1"), RefusalCode.GATEWAY_REFUSED),
    ("cut JSON", said(400, "Unexpected end of JSON input"), RefusalCode.GATEWAY_REFUSED),
    ("blank text", said(400, ["Text is required"]), RefusalCode.GATEWAY_REFUSED),
    ("no button", said(400, ["At least one button is required"]), RefusalCode.GATEWAY_REFUSED),
    ("too many replies", said(400, ["Maximum of 3 reply buttons allowed"]), RefusalCode.GATEWAY_REFUSED),
    (
        "mixed buttons",
        said(400, ["Reply buttons cannot be mixed with other button types"]),
        RefusalCode.GATEWAY_REFUSED,
    ),
    ("2.4: too many links", said(400, ["Maximum of 2 CTA buttons allowed"]), RefusalCode.GATEWAY_REFUSED),
    ("another channel", said(400, ["Method not available on Evolution Channel"]), RefusalCode.GATEWAY_REFUSED),
    (
        "case 40: not on WhatsApp",
        said(400, [{"jid": JID, "exists": False, "number": "5521900001111"}]),
        RefusalCode.WHATSAPP_NOT_EXIST,
    ),
    ("body too large", said(413, "request entity too large"), RefusalCode.GATEWAY_REFUSED),
]

NOT_SENT_ROWS: list[tuple[str, Reply | Exception, NotSentReason]] = [
    ("case 41: closed, number not cached", said(500, "Connection Closed"), NotSentReason.DISCONNECTED),
    ("case 41: closed, number cached", said(400, ["Error: Connection Closed"]), NotSentReason.DISCONNECTED),
    ("case 41: never connected", said(500, no("onWhatsApp")), NotSentReason.INSTANCE_NOT_READY),
    (
        "case 41: never connected, cached",
        said(400, [no("sendMessage", "TypeError: ")]),
        NotSentReason.INSTANCE_NOT_READY,
    ),
    ("not in memory: text", said(500, no("textMessage")), NotSentReason.INSTANCE_NOT_READY),
    ("not in memory: file", said(500, no("mediaMessage")), NotSentReason.INSTANCE_NOT_READY),
    ("not in memory: voice", said(500, no("audioWhatsapp")), NotSentReason.INSTANCE_NOT_READY),
    ("not in memory: sticker", said(500, no("mediaSticker")), NotSentReason.INSTANCE_NOT_READY),
    ("not in memory: buttons", said(500, no("buttonMessage")), NotSentReason.INSTANCE_NOT_READY),
    ("not in memory: list", said(500, no("listMessage")), NotSentReason.INSTANCE_NOT_READY),
    ("existence query timed out", said(500, no("find")), NotSentReason.GATEWAY_ERROR),
    ("group not found", said(400, ["[object Object]"]), NotSentReason.GATEWAY_ERROR),
    ("case 40: no session yet", said(400, ["SessionError: No sessions"]), NotSentReason.GATEWAY_ERROR),
    ("2.4 without licence", bare(503, LICENCE), NotSentReason.GATEWAY_ERROR),
    ("case 40: slow down", bare(429, b"slow down"), NotSentReason.RATE_LIMITED),
    ("case 38d: connection refused", httpx.ConnectError("[Errno 111] Connection refused"), NotSentReason.UNREACHABLE),
    ("case 38e: name not found", httpx.ConnectError("[Errno -2] Name or service"), NotSentReason.UNREACHABLE),
    ("TLS failed", httpx.ConnectError(str(ssl.SSLError("handshake"))), NotSentReason.UNREACHABLE),
    ("no answer to the SYN", httpx.ConnectTimeout(""), NotSentReason.UNREACHABLE),
    ("no connection free on our side", httpx.PoolTimeout(""), NotSentReason.UNREACHABLE),
    ("not an http address", httpx.UnsupportedProtocol("ftp"), NotSentReason.UNREACHABLE),
]

UNKNOWN_ROWS: list[tuple[str, Reply | Exception, UnknownReason]] = [
    ("case 38b: not stored after the send", said(400, [PRISMA_AFTER]), UnknownReason.STORED_AFTER_SEND_FAILED),
    ("database down, who knows when", said(500, PRISMA_BEFORE), UnknownReason.UNCLASSIFIED_ANSWER),
    ("another statement of the database", said(400, [PRISMA_BEFORE]), UnknownReason.UNCLASSIFIED_ANSWER),
    ("case 38a: any other 500", said(500, "boom"), UnknownReason.UNCLASSIFIED_ANSWER),
    (
        "2.3.5: logging what was sent",
        said(400, ["TypeError: this.isZero is not a function"]),
        UnknownReason.UNCLASSIFIED_ANSWER,
    ),
    ("case 40: time-out inside, 500", said(500, "Timed Out"), UnknownReason.TIMEOUT),
    ("time-out inside, 400", said(400, ["Error: Timed Out"]), UnknownReason.TIMEOUT),
    ("another 400", said(400, ["Error: rate-overlimit"]), UnknownReason.UNCLASSIFIED_ANSWER),
    ("a naked Boom", bare(400, BOOM), UnknownReason.UNCLASSIFIED_ANSWER),
    ("a naked violation", bare(400, {"status": 400, "message": [["x"]]}), UnknownReason.UNCLASSIFIED_ANSWER),
    ("an empty object", bare(400, {}), UnknownReason.UNCLASSIFIED_ANSWER),
    ("an error inside a 200", bare(200, {"error": True, "message": "no"}), UnknownReason.UNREADABLE_ANSWER),
    ("case 40: 200 and nothing", bare(200, b""), UnknownReason.UNREADABLE_ANSWER),
    ("case 40: 201 without key", bare(201, {"status": "PENDING"}), UnknownReason.UNREADABLE_ANSWER),
    ("204", bare(204, b""), UnknownReason.UNREADABLE_ANSWER),
    ("case 40: a proxy's page", bare(502, b"<html>Bad Gateway</html>"), UnknownReason.UNREADABLE_ANSWER),
    ("a proxy's 503", bare(503, b"unavailable"), UnknownReason.UNREADABLE_ANSWER),
    ("a proxy's 504", bare(504, b""), UnknownReason.UNREADABLE_ANSWER),
    ("a proxy's 404", bare(404, b"<html>"), UnknownReason.UNREADABLE_ANSWER),
    ("a proxy's 413", bare(413, b"<html>"), UnknownReason.UNREADABLE_ANSWER),
    ("another JSON 404", bare(404, {"detail": "Not Found"}), UnknownReason.UNCLASSIFIED_ANSWER),
    ("a redirect", bare(307, b""), UnknownReason.UNREADABLE_ANSWER),
    ("a status nobody uses", bare(418, b"{}"), UnknownReason.UNCLASSIFIED_ANSWER),
    ("case 39: no answer in time", httpx.ReadTimeout(""), UnknownReason.TIMEOUT),
    ("request not written in time", httpx.WriteTimeout(""), UnknownReason.TIMEOUT),
    ("whole call not done in time", TimeoutError(), UnknownReason.TIMEOUT),
    ("case 38c: reset after the request", httpx.ReadError("reset"), UnknownReason.CONNECTION_LOST),
    ("reset inside the request", httpx.WriteError("reset"), UnknownReason.CONNECTION_LOST),
    ("closed without an answer", httpx.RemoteProtocolError("disconnected"), UnknownReason.CONNECTION_LOST),
    ("closing failed", httpx.CloseError(""), UnknownReason.CONNECTION_LOST),
    ("not HTTP", httpx.RemoteProtocolError("illegal status line"), UnknownReason.CONNECTION_LOST),
    ("our own mistake in HTTP", httpx.LocalProtocolError("header"), UnknownReason.CONNECTION_LOST),
    ("a proxy of our own", httpx.ProxyError("407"), UnknownReason.CONNECTION_LOST),
    ("an unreadable coding", httpx.DecodingError("gzip"), UnknownReason.UNCLASSIFIED_ANSWER),
    ("a bug", RuntimeError("surprise"), UnknownReason.UNCLASSIFIED_ANSWER),
]


def judged(what: Reply | Exception) -> Answer:
    return judge_failure(what) if isinstance(what, Exception) else judge_reply(what, now=NOW)


@pytest.mark.parametrize(("what", "code"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED_ROWS])
def test_refused(what: Reply, code: RefusalCode) -> None:
    answer = judged(what)
    assert isinstance(answer, Refused)
    assert answer.code is code


@pytest.mark.parametrize(("what", "reason"), [pytest.param(*row[1:], id=row[0]) for row in NOT_SENT_ROWS])
def test_certainly_not_sent(what: Reply | Exception, reason: NotSentReason) -> None:
    answer = judged(what)
    assert isinstance(answer, NotSent)
    assert answer.reason is reason


@pytest.mark.parametrize(("what", "reason"), [pytest.param(*row[1:], id=row[0]) for row in UNKNOWN_ROWS])
def test_nobody_can_say(what: Reply | Exception, reason: UnknownReason) -> None:
    answer = judged(what)
    assert isinstance(answer, Unknown)
    assert answer.reason is reason


@pytest.mark.parametrize("status", [200, 201])
def test_case_37_pending_is_taken(status: int) -> None:
    answer = judged(bare(status, {"key": KEY, "status": "PENDING", "message": {"conversation": "ola"}}))
    assert answer == Taken(key_id=KEY_ID, recipient="5521900001111")


def test_every_reason_there_is_has_a_row() -> None:
    assert {row[2] for row in REFUSED_ROWS} == set(RefusalCode)
    assert {row[2] for row in NOT_SENT_ROWS} == set(NotSentReason)
    assert {row[2] for row in UNKNOWN_ROWS} == set(UnknownReason)


def _texts() -> list[tuple[int, str]]:
    """Status and words of every row that is classified by its words."""
    found = []
    for _, what, _ in [*NOT_SENT_ROWS, *REFUSED_ROWS]:
        body = json.loads(what.body) if isinstance(what, Reply) and what.body.startswith(b"{") else {}
        message = body.get("response", {}).get("message")
        text = message[0] if isinstance(message, list) else message
        if isinstance(text, str) and body["status"] in (400, 500):
            found.append((body["status"], text))
    return found


@pytest.mark.parametrize(("status", "text"), _texts())
def test_the_same_words_inside_other_words_are_nobodys(status: int, text: str) -> None:
    """Whole texts are classified and never parts of them: a longer text may tell of something that came later."""
    longer = f"Error: sent, then {text}"
    assert isinstance(judged(said(status, [longer] if status == 400 else longer)), Unknown)
