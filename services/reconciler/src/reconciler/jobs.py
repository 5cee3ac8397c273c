"""The loops the reconciler runs beside its subscribers."""

from datetime import timedelta

from chassis.loop import Loop
from reconciler.usecases.confirm_dispatch import ConfirmDispatch
from reconciler.usecases.forget_old import ForgetOld
from reconciler.usecases.reconcile import Reconcile

RETENTION_INTERVAL_SECONDS = 60.0


def passes(reconcile: Reconcile, confirm: ConfirmDispatch, *, interval: timedelta) -> Loop:
    """At start, and then at every interval."""

    async def step() -> bool:
        is_more = await reconcile.step()
        return await confirm.step() or is_more

    return Loop("reconcile", step, interval_seconds=interval.total_seconds())


def retention(forget: ForgetOld) -> Loop:
    """Deletes what is past its time."""
    return Loop("forget-old", forget.step, interval_seconds=RETENTION_INTERVAL_SECONDS)
