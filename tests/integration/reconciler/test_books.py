"""The ledger's side of the books: each message in the hour of its id, by its latest round."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from contracts.repair_questions import AccountEntry, CountBooks, ListAccount
from contracts.status import Status
from contracts.values import MessageRef
from reconciler.domain.books import HOUR, first_id_of
from reconciler.usecases.tell_books import TellBooks

from .conftest import START, Service, accepted, reference
from .test_ledger import changed, dispatched

TENANT = UUID(int=7)


def booked(minutes: int, *, tenant: UUID = TENANT, round_number: int = 1) -> MessageRef:
    """A message whose id was made so long after START."""
    made = first_id_of(START + timedelta(minutes=minutes)).int
    return reference(round_number=round_number).model_copy(
        update={"message_id": UUID(int=made + 1), "tenant_id": tenant}
    )


def books(service: Service) -> TellBooks:
    return TellBooks(database=service.database, clock=lambda: datetime.now(UTC))


async def test_accepted_is_final_and_open_by_tenant_and_hour(service: Service) -> None:
    read, left, fresh, later = booked(0), booked(1), booked(59), booked(60)
    other = booked(2, tenant=UUID(int=8))
    for ref in (read, left, fresh, later, other):
        await service.hear(accepted(ref))
    await service.hear(changed(read, Status.READ), dispatched(left), changed(other, Status.CANCELED))
    told = await books(service).count(CountBooks(since=START, until=START + 2 * HOUR))
    counts = {(one.tenant_id, one.hour): (one.accepted, one.final, one.open) for one in told.accounts}
    assert counts == {
        (TENANT, START): (3, 1, 2),
        (TENANT, START + HOUR): (1, 0, 1),
        (UUID(int=8), START): (1, 1, 0),
    }
    assert told.complete
    one_hour = await books(service).count(CountBooks(since=START, until=START + HOUR))
    assert {account.hour for account in one_hour.accounts} == {START}


async def test_the_latest_round_counts_and_the_digest_tells_equal_numbers_apart(service: Service) -> None:
    ref = booked(0)
    again = ref.model_copy(update={"round": 2})
    await service.hear(accepted(ref), changed(ref, Status.FAILED))
    [first] = (await books(service).count(CountBooks(since=START, until=START + HOUR))).accounts
    await service.hear(accepted(again))
    [second] = (await books(service).count(CountBooks(since=START, until=START + HOUR))).accounts
    assert (first.final, second.final, second.open) == (1, 0, 1)
    assert first.digest != second.digest


async def test_an_account_is_listed_page_by_page(service: Service) -> None:
    refs = [booked(minute) for minute in range(5)]
    await service.hear(*(accepted(ref) for ref in refs), accepted(booked(9, tenant=UUID(int=8))))
    await service.hear(changed(refs[0], Status.SENT))
    tell, after = books(service), None
    found: list[AccountEntry] = []
    while page := (await tell.account(ListAccount(tenant_id=TENANT, hour=START, after=after, limit=2))).entries:
        found += page
        after = page[-1].message_id
    assert [(entry.message_id, entry.is_final) for entry in found] == [(ref.message_id, ref is refs[0]) for ref in refs]
