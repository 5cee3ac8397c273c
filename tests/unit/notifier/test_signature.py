"""Both signatures against vectors that others can recompute."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from standardwebhooks.webhooks import Webhook

from notifier.domain.signature import headers_of, pilot_signature, secret_text, standard_signature

PUBLISHED_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
BODY = '{"event":"message.sent","data":{"content":"Olá 👩‍👩‍👧 \\"ç\\" 1.0"}}'.encode()


def test_the_vector_of_the_standard_webhooks_specification() -> None:
    signature = standard_signature(
        PUBLISHED_SECRET,
        webhook_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1_614_265_330,
        body=b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_vectors_of_the_readme() -> None:
    assert pilot_signature(SECRET, BODY) == "827b4e36272cbaf33573f440fc6ef789812a502d76a7237318bbbf28f63c7177"
    timestamp = 1_767_225_600
    assert (
        standard_signature(SECRET, webhook_id=str(UUID(int=7)), timestamp=timestamp, body=BODY)
        == "v1,pHau4CFPlgkTwQREGSlaLT9/jju9sdZ5EA5kPboPuoc="
    )


def test_the_readme_shows_these_vectors() -> None:
    readme = (Path(__file__).parents[3] / "services/notifier/README.md").read_text(encoding="utf-8")
    signature = standard_signature(SECRET, webhook_id=str(UUID(int=7)), timestamp=1_767_225_600, body=BODY)
    for shown in (SECRET, BODY.decode(), pilot_signature(SECRET, BODY), signature):
        assert shown in readme


def test_a_secret_is_prefixed_padded_base64() -> None:
    assert secret_text(bytes(range(32))) == SECRET


def test_an_independent_receiver_accepts_the_headers() -> None:
    now = datetime.now(UTC)
    headers = headers_of(delivery_id=UUID(int=7), event="message.sent", attempt=3, secrets=[SECRET], body=BODY, now=now)
    Webhook(SECRET).verify(BODY, dict(headers))
    assert headers["webhook-id"] == headers["x-pilot-status-delivery"] == str(UUID(int=7))
    assert headers["x-pilot-status-signature"] == pilot_signature(SECRET, BODY)
    assert set(headers) == {
        "content-type",
        "user-agent",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "x-pilot-status-attempt",
        "x-pilot-status-delivery",
        "x-pilot-status-event",
        "x-pilot-status-signature",
    }


def test_both_secrets_are_accepted_while_one_replaces_the_other() -> None:
    now, new = datetime.now(UTC), secret_text(bytes(range(32, 64)))
    headers = headers_of(
        delivery_id=UUID(int=7), event="message.sent", attempt=3, secrets=[new, SECRET], body=BODY, now=now
    )
    Webhook(new).verify(BODY, dict(headers))
    Webhook(SECRET).verify(BODY, dict(headers))
    assert headers["x-pilot-status-signature"] == pilot_signature(new, BODY)
    assert headers["x-pilot-status-signature-previous"] == pilot_signature(SECRET, BODY)
