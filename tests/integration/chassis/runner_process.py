"""A process with scripted stages, for tests of how processes begin and end; prints every event on a line."""

import asyncio
import sys
from dataclasses import dataclass, field

from chassis.runner import Runner

RUNNER = Runner(stop_timeout_seconds=0.5)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(slots=True)
class Scripted:
    """`trouble` names what goes wrong, if anything."""

    name: str
    trouble: str = ""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    work: "asyncio.Task[None] | None" = None

    async def start(self) -> None:
        if self.trouble == "start":
            raise RuntimeError("cannot start")
        say(f"start {self.name}")
        if self.trouble == "busy":
            self.work = asyncio.create_task(self._finish_in_time())
        if self.trouble == "fatal":
            RUNNER.fail("hopeless")

    async def stop(self) -> None:
        say(f"stop {self.name}")
        match self.trouble:
            case "stop":
                raise RuntimeError("cannot stop")
            case "hang":
                await asyncio.Event().wait()
            case "lost connection":
                raise asyncio.CancelledError
            case "busy" if self.work is not None:
                self.stopping.set()
                await self.work

    async def _finish_in_time(self) -> None:
        await self.stopping.wait()
        await asyncio.sleep(0.1)
        say("finished what was in flight")


async def main(troubles: list[str]) -> int:
    stages = [Scripted(f"{number}", trouble) for number, trouble in enumerate(troubles, start=1)]
    return await RUNNER.run([*stages, Scripted("ready")])


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
