"""A receipt whose event names no instance is believed of the one message that has its key, if one alone has it."""

import asyncio

import pytest

from contracts.facts import ReceiptRecorded
from contracts.status import Status

from .conftest import Service, dispatched, reference, update


def nobodys(key_id: str, status: object) -> dict[str, object]:
    """A receipt of which the gateway did not say whose it is."""
    return {name: value for name, value in update(key_id, status).items() if name != "instance"}


async def told(service: Service) -> list[tuple[str, str, Status]]:
    """Instance, key and status of everything said."""
    said = await service.said(ReceiptRecorded)
    return sorted((fact.ref.instance, fact.key_id, fact.status) for fact in said)


@pytest.mark.parametrize("key_first", [True, False])
@pytest.mark.parametrize("named", [None, "", "Loja do Centro", {"name": "loja"}])
async def test_the_key_alone_finds_the_message_in_either_order(
    service: Service, key_first: bool, named: object
) -> None:
    receipt = nobodys("K1", "READ") | ({} if named is None else {"instance": named})
    if key_first:
        await service.keys.submit(dispatched(reference(), "K1"))
    await service.post(receipt)
    await service.post(receipt)
    await service.interpret()
    await service.adopt.step()
    if not key_first:
        assert await told(service) == []
        await service.keys.submit(dispatched(reference(), "K1"))
        await service.adopt.step()
    assert await told(service) == [("loja", "K1", Status.READ)]
    assert await service.rows("SELECT 1 FROM status_ingest.quarantine") == []
    assert await service.adopt.step() is False


async def test_case_08l_two_messages_with_one_key_get_nothing_of_it(service: Service) -> None:
    for instance in ("loja", "outra"):
        await service.keys.submit(dispatched(reference(instance), "K1"))
    await service.post(nobodys("K1", "READ"))
    await service.interpret()
    await service.adopt.step()
    assert await told(service) == []
    assert len(await service.rows("SELECT 1 FROM status_ingest.receipts WHERE recorded_at IS NULL")) == 1


async def test_case_08l_a_named_instance_is_never_taken_for_another(service: Service) -> None:
    await service.keys.submit(dispatched(reference("loja"), "K1"))
    await service.post(update("K1", "READ", instance="renamed"))
    await service.interpret()
    await service.adopt.step()
    assert await told(service) == []


async def test_case_49_a_report_with_and_without_instance_is_one_report(service: Service) -> None:
    for key_id in ("K1", "K2"):
        await service.keys.submit(dispatched(reference(), key_id))
    await service.post(nobodys("K1", "READ"))
    await service.post(update("K2", "READ"))
    await service.interpret()
    await service.adopt.step()
    await service.post(update("K1", "READ"))
    await service.post(nobodys("K2", "READ"))
    await service.interpret()
    await service.adopt.step()
    assert await told(service) == [("loja", "K1", Status.READ), ("loja", "K2", Status.READ)]


async def test_replicas_adopt_at_once_and_tell_once(service: Service, second: Service) -> None:
    keys = [f"K{number}" for number in range(30)]
    for key_id in keys:
        await service.post(nobodys(key_id, "READ"))
        await service.post(update(key_id, "READ"))
    await service.interpret()
    async with asyncio.timeout(30):
        await asyncio.gather(
            *(second.keys.submit(dispatched(reference(), key_id)) for key_id in keys),
            *(each.adopt.step() for _ in range(4) for each in (service, second)),
        )
        await service.adopt.step()
    assert await told(service) == sorted(("loja", key_id, Status.READ) for key_id in keys)
