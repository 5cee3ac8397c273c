"""A dispatcher stands still beyond its leases in the midst of calls; another takes over, and the first comes back."""

import signal
from collections import Counter
from datetime import UTC, datetime

import httpx
from tests.integration.dispatcher.process import Program, World
from tests.integration.dispatcher.rig import FAST, Rig
from tests.reliability.processes import lost_leases, settled, violations

from chassis.testing.waiting import eventually

CARRIED_OUT, DROPPED = "5547990000101", "5547990000202"
HANG_SECONDS = 8
LATER_SECONDS = 6.0
SETTLE_SECONDS = 90.0


async def acts(world: World) -> Counter[str]:
    """How often each act happened at the gateway."""
    async with httpx.AsyncClient(base_url=world.simulator_url, trust_env=False) as http:
        counted = (await http.get("/simulator/counters")).json()
        return Counter(counted.get("acts", counted))


async def fenced_off(program: Program) -> float:
    """Its own count of answers that came after their lease was lost."""
    async with httpx.AsyncClient(trust_env=False) as http:
        text = (await http.get(program.ready_url.replace("/ready", "/metrics"))).text
    name = "pilot_dispatcher_answers_fenced_off_total "
    return next((float(line.removeprefix(name)) for line in text.splitlines() if line.startswith(name)), 0.0)


async def test_stopped_beyond_its_lease_it_settles_nothing_any_more(world: World, rig: Rig) -> None:
    await world.number("loja", pacing=FAST)
    await world.script(
        {"match": {"number": CARRIED_OUT}, "send": [{"act": "accept_then_hang", "seconds": HANG_SECONDS, "times": 1}]}
    )
    await world.script({"match": {"number": DROPPED}, "send": [{"act": "hang", "seconds": HANG_SECONDS, "times": 1}]})
    rig.now.value = datetime.now(UTC)
    hung = {to: rig.message(said=f"to {to}", to=to) for to in (CARRIED_OUT, DROPPED)}
    later = [rig.message(said=f"later {number}", due_in=LATER_SECONDS) for number in range(8)]
    promised = {one.ref.message_id: f"to {to}" for to, one in hung.items()}
    promised |= {one.ref.message_id: f"later {number}" for number, one in enumerate(later)}
    await world.say(*later)

    async def all_stored() -> bool:
        [row] = await rig.rows("SELECT count(*) AS jobs FROM dispatcher.jobs WHERE state = 'SCHEDULED'")
        return bool(row.jobs == len(later))

    await eventually(all_stored, "what is due later in the database")
    await world.say(*hung.values())

    async def both_called() -> bool:
        seen = await acts(world)
        return seen["accept_then_hang"] == 1 and seen["hang"] == 1

    await eventually(both_called, "two calls without an answer")
    assert world.dispatcher.process is not None
    world.dispatcher.process.send_signal(signal.SIGSTOP)
    try:
        second = world.replica()
        await second.start()
        await second.wait_ready(60)
        await settled(rig, len(promised), within_seconds=SETTLE_SECONDS)
        assert await lost_leases(rig) == len(hung)
    finally:
        world.dispatcher.process.send_signal(signal.SIGCONT)

    async def both_refused() -> bool:
        return await fenced_off(world.dispatcher) == len(hung)

    await eventually(both_refused, "two answers fenced off", timeout_seconds=60)
    assert world.dispatcher.log.read_text().count("attempt_fenced_off") == len(hung)
    assert await violations(world, rig, promised) == []
    assert len(await world.ledger()) == len(promised), "nothing was sent twice, flagged or not"
