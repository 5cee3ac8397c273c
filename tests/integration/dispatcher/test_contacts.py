"""Contacts are hashes with an end: after a long silence, or when a person must be forgotten."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from chassis.telemetry.metrics import registry
from contracts.dispatch_questions import CancelMessages
from contracts.facts import RecipientErased
from dispatcher.usecases.cancel_messages import CancelJobs
from dispatcher.usecases.forget_contacts import EraseContact, PurgeContacts
from dispatcher.usecases.keep_house import PurgeOld

from .rig import RECIPIENT, Rig
from .sealing import hash_of

SHORT = "554791234567"


async def contacts(rig: Rig) -> list[tuple[str, str]]:
    rows = await rig.rows("SELECT instance, recipient_hash FROM dispatcher.contacts ORDER BY 1, 2")
    return [(row.instance, row.recipient_hash) for row in rows]


async def put(rig: Rig, instance: str, recipient_hash: str, *, age_days: float) -> None:
    await rig.write(
        "INSERT INTO dispatcher.contacts VALUES (:instance, :hash, '', :at)",
        instance=instance,
        hash=recipient_hash,
        at=rig.now() - timedelta(days=age_days),
    )


async def test_contacts_end_in_pages_after_a_long_silence(rig: Rig) -> None:
    for number in range(9):
        await put(rig, f"lane-{number % 3}", f"{number:064d}", age_days=399 if number % 2 else 401)
    purge = PurgeContacts(database=rig.database, retention=timedelta(days=400), page=4, clock=rig.now)
    assert [await purge() for _ in range(3)] == [True, True, False]
    assert {recipient for _, recipient in await contacts(rig)} == {f"{number:064d}" for number in (1, 3, 5, 7)}
    oldest = registry.get_sample_value("pilot_retention_oldest_seconds", {"kind": "contact"})
    assert oldest == timedelta(days=399).total_seconds()
    rig.now.pass_(timedelta(days=2).total_seconds())
    while await purge():
        pass
    assert await contacts(rig) == []


async def test_a_contact_that_is_written_to_again_stays(rig: Rig) -> None:
    await rig.open_lane()
    await put(rig, "loja", hash_of(RECIPIENT), age_days=500)
    await rig.accept()
    await rig.dispatch()
    await PurgeContacts(database=rig.database, retention=timedelta(days=400), clock=rig.now)()
    assert await contacts(rig) == [("loja", hash_of(RECIPIENT))]


@pytest.mark.parametrize("instances", [None, ("loja", "nobodys")])
async def test_who_is_erased_is_no_contact_any_more(rig: Rig, instances: tuple[str, ...] | None) -> None:
    theirs, another = hash_of(SHORT), "f" * 64
    for instance in ("loja", "other", "gone-lane"):
        await put(rig, instance, theirs, age_days=1)
        await put(rig, instance, another, age_days=1)
    fact = RecipientErased(
        erasure_id=uuid4(),
        recipient_hash=hash_of(RECIPIENT),
        sealed_recipient="sealed",
        instances=instances,
        erased_at=datetime.now(UTC),
    )
    for _ in range(2):
        await EraseContact(database=rig.database)(fact)
    left = {instance for instance, recipient in await contacts(rig) if recipient == theirs}
    assert left == (set() if instances is None else {"other", "gone-lane"})
    assert len([1 for _, recipient in await contacts(rig) if recipient == another]) == 3


async def test_no_ended_job_holds_content_and_ended_jobs_end(rig: Rig) -> None:
    """However it ended: sent, canceled, too late."""
    await rig.open_lane()
    await rig.accept()
    await rig.dispatch()
    [canceled] = await rig.accept(due_in=600)
    await CancelJobs(database=rig.database, clock=rig.now)(CancelMessages(refs=(canceled,)))
    await rig.accept(due_in=0, window=1, said="tarde")
    rig.now.pass_(5)
    await rig.fail_expired()
    rows = await rig.rows("SELECT state, sealed FROM dispatcher.jobs")
    assert {row.state for row in rows} == {"DISPATCHED", "CANCELED", "FAILED"}
    assert [row.sealed for row in rows] == [None] * 3
    before = registry.get_sample_value("pilot_retention_deleted_total", {"kind": "job"}) or 0
    rig.now.pass_(timedelta(days=8).total_seconds())
    await PurgeOld(database=rig.database, job_retention=timedelta(days=7), clock=rig.now)()
    assert await rig.rows("SELECT 1 FROM dispatcher.jobs") == []
    assert registry.get_sample_value("pilot_retention_deleted_total", {"kind": "job"}) == before + 3
