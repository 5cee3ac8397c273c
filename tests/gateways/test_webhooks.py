"""Every shape of Evolution's webhooks, and what each of them says."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.evolution.webhooks import ITEMS_MAX, translate
from gateways.port import (
    Ignored,
    Observation,
    Receipt,
    ReceiptStatus,
    Unreadable,
)

PHONE_JID = "5547991234567@s.whatsapp.net"


def update(data: object, *, instance: str = "shop") -> Mapping[str, object]:
    return {"event": "messages.update", "instance": instance, "data": data, "date_time": "2026-01-15T09:00:05.000Z"}


def single(payload: object) -> Observation:
    observations = translate(payload)
    assert len(observations) == 1
    return observations[0]


def flat(status: object, **more: object) -> Mapping[str, object]:
    return {
        "keyId": "K3",
        "remoteJid": PHONE_JID,
        "fromMe": True,
        "status": status,
        "instanceId": "i",
        "messageId": "c1",
        **more,
    }


DELIVERED = Receipt(instance="shop", key_id="K3", status=ReceiptStatus.DELIVERED)
NOBODYS = Receipt(instance=None, key_id="K3", status=ReceiptStatus.DELIVERED)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(flat("DELIVERY_ACK"), id="a_flat_object"),
        pytest.param([{"key": {"id": "K3"}, "update": {"status": 3}}], id="b_array_of_key_and_update"),
        pytest.param({"key": {"id": "K3"}, "update": {"status": "3"}}, id="c_single_key_and_update"),
        pytest.param(flat(3), id="d_number"),
        pytest.param(flat("3"), id="d_numeric_string"),
        pytest.param(flat("delivery_ack"), id="d_lower_case"),
        pytest.param(flat(3.0), id="d_float"),
        pytest.param(flat("DELIVERY_ACK", participant=None), id="k_participant_null"),
        pytest.param(flat("DELIVERY_ACK", participant=PHONE_JID), id="participant_of_2_2_3"),
        pytest.param(
            {"remoteJid": PHONE_JID, "id": "K3", "fromMe": True, "status": "DELIVERY_ACK", "owner": "shop"}, id="v1"
        ),
        pytest.param(flat("DELIVERY_ACK", datetime={"low": 1750000000, "high": 0, "unsigned": True}), id="j_long"),
        pytest.param([flat("DELIVERY_ACK")], id="flat_in_an_array"),
    ],
)
def test_case_08_every_shape_of_delivered(data: object) -> None:
    assert single(update(data)) == DELIVERED


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (0, ReceiptStatus.FAILED),
        ("0", ReceiptStatus.FAILED),
        ("ERROR", ReceiptStatus.FAILED),
        (2, ReceiptStatus.SENT),
        ("SERVER_ACK", ReceiptStatus.SENT),
        (4, ReceiptStatus.READ),
        ("READ", ReceiptStatus.READ),
        (5, ReceiptStatus.READ),
        ("PLAYED", ReceiptStatus.READ),
    ],
)
def test_case_08_g_h_statuses_as_words_and_numbers(value: object, status: ReceiptStatus) -> None:
    assert single(update(flat(value))) == Receipt(instance="shop", key_id="K3", status=status)
    nested = {"key": {"id": "K3", "fromMe": True}, "update": {"status": value}}
    assert single(update(nested)) == Receipt(instance="shop", key_id="K3", status=status)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (flat("DELETED"), "status_deleted"),
        (flat("EDITED"), "status_edited"),
        (flat("FOO"), "status_unknown"),
        (flat(True), "status_unknown"),
        (flat(6), "status_unknown"),
        (flat(-1), "status_unknown"),
        (flat({"deep": 1}), "status_unknown"),
        (flat("PENDING"), "status_pending"),
        (flat(1), "status_pending"),
        (flat(None), "status_missing"),
        ({"keyId": "K3", "fromMe": True}, "status_missing"),
    ],
)
def test_case_02_case_08e_what_ranks_nothing_changes_nothing(data: object, reason: str) -> None:
    assert single(update(data)) == Ignored(reason=reason)


def test_case_02_read_after_deleted_is_read() -> None:
    both = translate(update([flat("DELETED"), flat("READ")]))
    assert both == (
        Ignored(reason="status_deleted"),
        Receipt(instance="shop", key_id="K3", status=ReceiptStatus.READ),
    )


@pytest.mark.parametrize(
    "data",
    [{"messageId": "c1", "status": "READ"}, {"id": "c2", "messageId": "c1", "status": "READ"}, {"status": "READ"}],
)
def test_case_08f_a_row_id_is_no_message_id(data: object) -> None:
    assert single(update(data)) == Unreadable(reason="key_missing")


@pytest.mark.parametrize(
    "data",
    [flat("READ", fromMe=False), {"key": {"id": "K3", "fromMe": False}, "update": {"status": 4}}],
)
def test_case_08i_our_own_reading_of_an_inbound_message_is_ignored(data: object) -> None:
    assert single(update(data)) == Ignored(reason="not_from_me")


def test_case_08l_the_instance_is_part_of_the_identity() -> None:
    other = single(update(flat(3), instance="other"))
    assert other == Receipt(instance="other", key_id="K3", status=ReceiptStatus.DELIVERED)
    assert other != DELIVERED


def test_case_01_every_report_is_passed_on_in_its_order_for_others_to_rank() -> None:
    said = translate(update([flat(status) for status in ("READ", "DELIVERY_ACK", "SERVER_ACK", "READ")]))
    assert [one.status for one in said if isinstance(one, Receipt)] == [
        ReceiptStatus.READ,
        ReceiptStatus.DELIVERED,
        ReceiptStatus.SENT,
        ReceiptStatus.READ,
    ]


@pytest.mark.parametrize("moment", ["2025-06-02T09:00:05.000Z", "2025-06-02T21:00:05.000Z", "soon", None, 10**400])
def test_case_05_the_gateways_clock_changes_nothing(moment: object) -> None:
    assert single({**update(flat("DELIVERY_ACK")), "date_time": moment}) == DELIVERED


@pytest.mark.parametrize("spelling", ["id", "keyId", "key"])
def test_case_08_the_id_of_every_version(spelling: str) -> None:
    """1.8.2 says `id`, 2.x `keyId`, Baileys itself `key.id`; a `messageId` beside them is the gateway's own row."""
    ids: dict[str, object] = {"key": {"id": "K3"}} if spelling == "key" else {spelling: "K3"}
    row = {} if spelling == "id" else {"messageId": "c1"}
    assert single(update({**ids, **row, "remoteJid": PHONE_JID, "fromMe": True, "status": "DELIVERY_ACK"})) == DELIVERED


@pytest.mark.parametrize("event", ["messages.edited", "messages.delete", "send.message.update", "messages.set"])
def test_case_02_edits_and_deletions_have_events_of_their_own_and_rank_nothing(event: str) -> None:
    payload = {**update(flat("DELETED", key={"id": "K3", "fromMe": True})), "event": event}
    assert single(payload) == Ignored(reason=f"event_{event.replace('.', '_')}")


@pytest.mark.parametrize(
    "edit",
    [
        flat("SERVER_ACK", message={"conversation": "new"}),
        {"key": {"id": "K3"}, "update": {"status": 2, "message": {"editedMessage": {}}}},
    ],
)
def test_an_edit_disguised_as_server_ack_is_no_receipt(edit: object) -> None:
    assert single(update(edit)) == Ignored(reason="status_of_an_edit")


@pytest.mark.parametrize(
    ("payload", "observation"),
    [
        (update(None), Unreadable(reason="data_not_an_object")),
        (update("x"), Unreadable(reason="data_not_an_object")),
        ({"instance": "shop", "data": flat(3)}, Unreadable(reason="event_missing")),
        ({**update(flat(3)), "surprise": {"a": 1}}, DELIVERED),
        (update([]), Ignored(reason="empty")),
        (None, Unreadable(reason="not_an_object")),
        ([update(flat(3))], Unreadable(reason="not_an_object")),
        ({**update(flat(3)), "instance": None}, NOBODYS),
        ({**update(flat(3)), "instance": "a/b"}, NOBODYS),
        ({**update(flat(3)), "instance": "x" * 101}, NOBODYS),
        ({**update(flat(3)), "event": "MESSAGES_UPDATE"}, DELIVERED),
        ({**update(flat(3)), "event": "messages-update"}, DELIVERED),
        ({**update(flat(3)), "event": "messages.invented"}, Ignored(reason="event_unknown")),
        ({**update(flat(3)), "event": 7}, Ignored(reason="event_unknown")),
    ],
)
def test_case_03_unknown_shapes_are_told_apart_and_never_raise(payload: object, observation: Observation) -> None:
    assert single(payload) == observation


def test_case_03_a_batch_is_read_item_by_item() -> None:
    mixed = translate(update([flat(3), None, {"messageId": "c1"}]))
    assert mixed == (DELIVERED, Unreadable(reason="data_not_an_object"), Unreadable(reason="key_missing"))


def test_a_batch_beyond_the_limit_says_so() -> None:
    observations = translate(update([flat(3)] * (ITEMS_MAX + 5)))
    assert len(observations) == ITEMS_MAX + 1
    assert observations[-1] == Unreadable(reason="too_many_items")


def test_case_52_an_error_event_without_instance_is_no_crash() -> None:
    payload = {"event": "error", "data": {"status": 400}, "api_key": "GLOBAL", "server_url": "http://gw"}
    assert single(payload) == Ignored(reason="event_error")


def test_the_hint_stands_in_for_a_missing_instance() -> None:
    payload = {"event": "messages.update", "data": flat(3)}
    assert translate(payload, instance_hint="shop") == (DELIVERED,)
    assert translate(payload) == (NOBODYS,)


@pytest.mark.parametrize("event", ["messages.upsert", "messages.delete", "send.message.update", "qrcode.updated"])
def test_other_events_are_ignored_by_name(event: str) -> None:
    assert single({"event": event, "instance": "shop", "data": {}}) == Ignored(
        reason=f"event_{event.replace('.', '_')}"
    )


_names = st.sampled_from(
    ["event", "instance", "data", "key", "keyId", "id", "status", "update", "fromMe", "message", "state", "low"]
) | st.text(max_size=6)
_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["messages.update", "send.message", "connection.update", "shop", "READ", PHONE_JID])
)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=6),
    max_leaves=20,
)
_events = st.sampled_from(["messages.update", "send.message", "connection.update", "status.instance", "call"])


@given(payload=_json)
def test_case_03_arbitrary_json_never_raises(payload: object) -> None:
    assert translate(payload)


@given(event=_events, data=_json)
def test_case_03_arbitrary_data_of_a_known_event_never_raises(event: str, data: object) -> None:
    observations = translate({"event": event, "instance": "shop", "data": data})
    assert observations
    assert all(isinstance(observation, Observation) for observation in observations)
