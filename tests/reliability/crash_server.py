"""Forks a dispatcher for one message at a time and reports how it ended; each dies at the suspension asked for."""

import asyncio
import gc
import json
import os
import sys
import warnings
from datetime import timedelta
from typing import Any

from tests.integration.dispatcher.sealing import KEYS
from tests.reliability.crash_steps import Bomb, Side

from chassis.database import Database
from chassis.group_commit import GroupCommit
from contracts.facts import MessageAccepted
from contracts.registry import decode
from dispatcher.domain.rules import Rules
from dispatcher.tables import outbox
from dispatcher.usecases.claim_due import ClaimDue
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.leases import LeaseBook
from dispatcher.usecases.settle_attempts import SettleAttempts
from dispatcher.usecases.take_in import InsertJobs, TakeIn
from gateways.evolution import EvolutionSender

RULES = Rules(
    lease=timedelta(seconds=10), absence_believed_after=timedelta(seconds=2), resolve_within=timedelta(seconds=60)
)
ACKED = b"a"


def serve() -> None:
    """One order per line of standard input, one report per line of standard output."""
    warnings.simplefilter("ignore")
    sender = EvolutionSender()
    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            asyncio.run(live(order, sender, write))
            os._exit(0)
        os.close(write)
        _, ended = os.waitpid(child, 0)
        told = os.read(read, 100)
        os.close(read)
        report = {
            "killed": os.WIFSIGNALED(ended),
            "clean": os.WIFEXITED(ended) and os.WEXITSTATUS(ended) == 0,
            "acked": told.startswith(ACKED),
            "steps": int(told[1:] or 0),
        }
        print(json.dumps(report), flush=True)  # noqa: T201


async def live(order: dict[str, Any], sender: EvolutionSender, pipe: int) -> None:
    """One message from its delivery to its settling, as the dispatcher's loops do it one after the other."""
    accepted = decode(MessageAccepted.TYPE, order["accepted"].encode())
    assert isinstance(accepted, MessageAccepted)
    database = Database(order["database_url"], outbox=outbox, pool_size=2, name="crash")
    async with database.transaction(), database.transaction():
        pass
    bomb = Bomb(at=order["at"], side=Side(order["side"]))
    bomb.install(asyncio.get_running_loop())
    await asyncio.create_task(_work(database, sender, accepted, pipe))
    os.write(pipe, str(bomb.steps).encode())
    os._exit(0)


async def _work(database: Database, sender: EvolutionSender, accepted: MessageAccepted, pipe: int) -> None:
    await TakeIn(commits=GroupCommit(database, InsertJobs()), wake=_nobody, wake_promoting=_nobody)([accepted])
    os.write(pipe, ACKED)
    claimed = await ClaimDue(database=database, rules=RULES, dice=_even)(10)
    carry_out = CarryOut(
        sender=sender,
        keys=KEYS,
        book=LeaseBook(RULES.lease),
        rules=RULES,
        settling=GroupCommit(database, SettleAttempts(dice=_even)),
        dice=_even,
    )
    for attempt in claimed.attempts:
        await carry_out(attempt, claimed.claimed_at)


def _nobody() -> None:
    """Nothing else runs in this process."""


def _even() -> float:
    return 0.5


if __name__ == "__main__":
    serve()
