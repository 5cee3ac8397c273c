"""Deliveries and their attempts end with their retention, and the backlog is measured."""

from datetime import UTC, datetime, timedelta
from typing import Any

from chassis.telemetry.metrics import registry
from notifier.usecases.forget_old import ForgetOld
from notifier.usecases.measure_backlog import MeasureBacklog

DAY = timedelta(days=1)


async def test_old_deliveries_and_attempts_are_forgotten_in_bites(build: Any, customer: Any) -> None:
    rig = await build()
    await rig.endpoint(customer.url())
    await rig.hear(*(rig.fact() for _ in range(5)))
    await rig.work_off()
    await rig.hear(rig.fact())
    [held] = await rig.deliver.claim(1)
    now = datetime.now(UTC)
    early = ForgetOld(database=rig.database, clock=lambda: now + 29 * DAY, retention=30 * DAY, bite=2)
    assert await early() is False
    assert len(await rig.states()) == 6
    late = ForgetOld(database=rig.database, clock=lambda: now + 31 * DAY, retention=30 * DAY, bite=2)
    assert [await late() for _ in range(3)] == [True, True, False]
    assert await rig.states() == ["SENDING"], "what is under way stays until it is settled"
    assert await rig.rows("SELECT 1 FROM notifier.delivery_attempts") == []
    await rig.deliver.carry_out(held)
    assert await late() is False
    assert await rig.states() == []


async def test_backlog_counts_what_waits_for_active_endpoints(build: Any, customer: Any) -> None:
    rig = await build()
    await rig.endpoint(customer.url())
    measure = MeasureBacklog(database=rig.database, clock=lambda: datetime.now(UTC) + timedelta(seconds=90))
    await measure()
    assert registry.get_sample_value("pilot_notifier_pending_deliveries") == 0
    assert registry.get_sample_value("pilot_notifier_overdue_seconds") == 0
    await rig.hear(*(rig.fact() for _ in range(3)))
    await measure()
    assert registry.get_sample_value("pilot_notifier_pending_deliveries") == 3
    overdue = registry.get_sample_value("pilot_notifier_overdue_seconds")
    assert overdue is not None
    assert 89 < overdue < 120
    await rig.rows("UPDATE notifier.endpoints SET active = false RETURNING 1")
    await measure()
    assert registry.get_sample_value("pilot_notifier_pending_deliveries") == 0
