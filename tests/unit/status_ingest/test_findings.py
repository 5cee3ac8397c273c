"""What a batch of observations amounts to, in which order its messages are locked, and how facts are worded."""

from datetime import UTC, datetime, timedelta

from contracts.values import ConnectionState
from gateways.port import ConnectionChange, Echo, Ignored, Observation, Receipt, ReceiptStatus, Unreadable
from gateways.port import ConnectionState as PortState
from status_ingest.domain.findings import Findings, MessageKey, combine, findings_of, keys_of

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)


def hash_of(value: str, *, purpose: str) -> str:
    """A digest that shows what was hashed."""
    return (value + purpose).encode().hex().ljust(64, "0")[:64]


def found(*observations: Observation, seconds: int = 0) -> Findings:
    """Findings received some seconds after NOW."""
    return findings_of(observations, received_at=NOW + timedelta(seconds=seconds), hash_of=hash_of)


def receipt(key_id: str, status: ReceiptStatus = ReceiptStatus.READ, *, instance: str = "loja") -> Receipt:
    """One observation."""
    return Receipt(instance=instance, key_id=key_id, status=status)


def test_each_observation_finds_its_place() -> None:
    findings = found(
        receipt("K1"),
        Echo(instance="loja", key_id="K2", recipient="5547991000000", text=" hi "),
        ConnectionChange(instance="loja", state=PortState.CLOSE, reason="401"),
        Ignored(reason="not_from_me"),
        Unreadable(reason="key_missing"),
        Unreadable(reason="too_many_items"),
    )
    assert [item.key.message.key_id for item in findings.receipts] == ["K1"]
    assert [(item.key_id, item.observed_at) for item in findings.echoes] == [("K2", NOW)]
    assert [(item.state, item.reason) for item in findings.connections] == [(ConnectionState.CLOSE, "401")]
    assert (findings.ignored, findings.unreadable) == (1, "key_missing")


def test_an_echo_is_hashed_by_its_recipients_key_and_its_trimmed_text() -> None:
    (with_ninth,) = found(Echo(instance="a", key_id="K", recipient="5547991000000", text=" hi ")).echoes
    (without,) = found(Echo(instance="a", key_id="K", recipient="554791000000", text="hi")).echoes
    assert (with_ninth.recipient_hash, with_ninth.text_hash) == (without.recipient_hash, without.text_hash)
    (bare,) = found(Echo(instance="a", key_id="K", recipient=None, text=None)).echoes
    assert (bare.recipient_hash, bare.text_hash) == (None, None)


def test_a_batch_keeps_the_earliest_of_equal_receipts() -> None:
    batch = combine([found(receipt("K1")), found(receipt("K1"), seconds=5), found(receipt("K1", ReceiptStatus.SENT))])
    assert [(item.key.status, item.occurred_at) for item in batch.receipts] == [
        (ReceiptStatus.READ, NOW),
        (ReceiptStatus.SENT, NOW),
    ]


def test_keys_are_distinct_and_sorted_whatever_the_order_of_arrival() -> None:
    one = found(
        receipt("B"), receipt("A", instance="outra"), Echo(instance="loja", key_id="A", recipient=None, text="x")
    )
    other = found(receipt("A"), receipt("B"))
    keys = keys_of(combine([one, other]))
    assert keys == sorted(keys) == keys_of(combine([other, one]))
    assert keys == [
        MessageKey(instance="loja", key_id="A"),
        MessageKey(instance="loja", key_id="B"),
        MessageKey(instance="outra", key_id="A"),
    ]
