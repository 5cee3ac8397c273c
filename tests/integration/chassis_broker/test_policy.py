"""The pure part of redelivery: how long to wait, and whose fault an error is."""

import asyncpg
import pytest
from aio_pika.exceptions import ChannelInvalidStateError
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from chassis.amqp import amqp_url, quorum_arguments
from chassis.database import UnavailableError
from chassis.outages import is_outage
from chassis.redelivery import Redelivery


def test_waits_and_pauses_double_up_to_their_caps() -> None:
    policy = Redelivery()
    assert [policy.wait_seconds(attempts) for attempts in (1, 2, 3, 4, 7, 10_000)] == [0.1, 0.2, 0.4, 0.8, 5.0, 5.0]
    assert [policy.pause_seconds(count) for count in (0, 1, 2, 5, 6, 10_000)] == [0.2, 0.4, 0.8, 6.4, 10.0, 10.0]


def test_patience_ends_well_before_the_broker_loses_its_own() -> None:
    policy = Redelivery()
    assert policy.patience_seconds + policy.wait_max_seconds < 30 * 60 / 2


def database_error(sqlstate: str) -> DBAPIError:
    original = asyncpg.PostgresError.new({"C": sqlstate, "M": "message"})
    original.sqlstate = sqlstate
    return DBAPIError("SELECT", {}, original)


@pytest.mark.parametrize(
    "error",
    [
        UnavailableError("down"),
        ConnectionRefusedError(),
        TimeoutError(),
        OSError(113, "no route"),
        PoolTimeoutError("pool"),
        ChannelInvalidStateError(),
        database_error("08006"),
        database_error("57P01"),
        database_error("40001"),
        database_error("53300"),
        InterfaceError("SELECT", {}, asyncpg.InterfaceError("connection is closed")),
    ],
    ids=repr,
)
def test_trouble_that_passes_is_nobody_s_fault(error: Exception) -> None:
    assert is_outage(error)


@pytest.mark.parametrize(
    "error",
    [
        KeyError("a defect"),
        ValueError(),
        RuntimeError(),
        database_error("22001"),
        database_error("23505"),
        database_error("42P01"),
        InterfaceError("SELECT", {}, asyncpg.DataError("invalid input for query argument $1")),
    ],
    ids=repr,
)
def test_a_defect_is_not_waited_for(error: Exception) -> None:
    assert not is_outage(error)


def test_the_address_keeps_a_given_heartbeat_and_gets_one_otherwise() -> None:
    assert amqp_url("amqp://u:p@h/v", name="n") == "amqp://u:p@h/v?heartbeat=10&name=n"
    assert amqp_url("amqp://u:p@h/%2Fv?heartbeat=3", name="n") == "amqp://u:p@h/%2Fv?heartbeat=3&name=n"


def test_every_queue_carries_what_keeps_its_messages() -> None:
    assert quorum_arguments("q", "dead", 20) == {
        "x-queue-type": "quorum",
        "x-dead-letter-exchange": "dead",
        "x-dead-letter-routing-key": "q",
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
        "x-delivery-limit": 20,
    }
