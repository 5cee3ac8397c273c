"""One call that is never answered takes its own time, and none of the others of its lane."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.integration.dispatcher.process import open_world
from tests.integration.dispatcher.rig import Rig
from tests.reliability.processes import sends, settled, violations

from chassis.testing.virtual_host import VirtualHost
from chassis.testing.waiting import eventually
from contracts.facts.messages import Proof
from contracts.values import Pace, PacingPolicy

SILENT = "5547990000303"
OTHERS = 40
GAP = Pace(min_ms=50, max_ms=50)
POLICY = PacingPolicy(utility=GAP)
"""One call at a time, as by default."""

READ_TIMEOUT_SECONDS = 12
"""Several times what the others take, so that they need not be quick to be told from waiting."""


@pytest.mark.parametrize(("act", "proof"), [("accept_then_hang", Proof.ECHO), ("hang", Proof.RESPONSE)])
async def test_one_unanswered_send_delays_no_other(
    rig: Rig, vhost: VirtualHost, tmp_path: Path, act: str, proof: Proof
) -> None:
    """Carried out or not: in the end it was sent exactly once."""
    environment = {
        "CALL_PATIENCE_SECONDS": "0.5",
        "GATEWAY_READ_TIMEOUT_SECONDS": str(READ_TIMEOUT_SECONDS),
        "LEASE_SECONDS": "60",
    }
    rig.now.value = datetime.now(UTC)
    async with open_world(rig.url, vhost.url, tmp_path, environment) as world:
        await world.number("loja", pacing=POLICY)
        step = {"act": act, "seconds": READ_TIMEOUT_SECONDS * 5, "times": 1}
        await world.script({"match": {"number": SILENT}, "send": [step]})
        silent = rig.message(said="silent", to=SILENT)
        others = {one.ref.message_id: f"other {n}" for n in range(OTHERS) if (one := rig.message(said=f"other {n}"))}
        messages = [rig.message(said=said, message_id=message_id) for message_id, said in others.items()]
        await world.say(silent)

        async def is_called() -> bool:
            return (await states(rig)).get(silent.ref.message_id) == "IN_FLIGHT"

        await eventually(is_called, "the call that will not be answered")
        await world.say(*messages)

        async def others_left() -> bool:
            return {send.name for send in await sends(world)} >= set(others.values())

        await eventually(others_left, "all others at the gateway", timeout_seconds=READ_TIMEOUT_SECONDS)
        assert await is_called(), "the unanswered call was over before the others had left: they proved nothing"
        await settled(rig, OTHERS + 1, within_seconds=60)
        assert await violations(world, rig, {**others, silent.ref.message_id: "silent"}) == []
        job = await rig.job(silent.ref)
        assert (job.state, job.proof, job.duplicate_possible) == ("DISPATCHED", proof, False)


async def states(rig: Rig) -> dict[Any, str]:
    """By message id."""
    return {row.message_id: row.state for row in await rig.rows("SELECT message_id, state FROM dispatcher.jobs")}
