"""An attempt that was claimed in time is not begun once its delivery window has closed."""

from .rig import Rig


async def test_an_attempt_whose_window_closed_after_the_claim_is_not_begun(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(window=10)
    [attempt] = (await rig.claim()).attempts
    await rig.carry_out(attempt, rig.book.monotonic() - 11)
    assert rig.gateway.sent == []
    assert (await rig.job(ref)).state == "SCHEDULED"
    assert (await rig.lane()).in_flight == 0
