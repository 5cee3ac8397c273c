"""The loops that watch over numbers and over the fleet: heartbeat and recovery, silence, and the gauge of lanes."""

from dataclasses import dataclass

from chassis.loop import Loop
from dispatcher.domain.recovery import HEARTBEAT
from dispatcher.usecases.recover import Recover
from dispatcher.usecases.watch_health import SampleLanes, WatchSilence

SILENCE_SECONDS = 60.0
SAMPLE_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthLoops:
    """To be started before anything that promotes or takes in."""

    recover: Recover
    watch_silence: WatchSilence
    sample_lanes: SampleLanes

    def all(self) -> list[Loop]:
        """In the order to be started."""
        return [
            Loop("recovering", self.recover, interval_seconds=HEARTBEAT.total_seconds()),
            Loop("watching-silence", self.watch_silence, interval_seconds=SILENCE_SECONDS),
            Loop("sampling-lanes", self._sample, interval_seconds=SAMPLE_SECONDS),
        ]

    async def _sample(self) -> bool:
        await self.sample_lanes()
        return False
