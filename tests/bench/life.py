"""A message's whole life over the whole system: how many per second from 202 to READ, and how soon an OTP leaves."""

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from tests.bench.accept import target_of
from tests.bench.http_load import Answer, load
from tests.bench.processor import cpu_seconds
from tests.bench.report import Line, latency, rate
from tests.bench.rounds import quantile
from tests.bench.running import run
from tests.bench.webhook_sink import WebhookSink, open_sink

from chassis.testing.waiting import eventually
from local_stack.operator_api import Account, Operator
from local_stack.system import System, open_system
from local_stack.workspace import Workspace

BENCH = "life"
RUN_DIR = Path(__file__).parents[2] / ".run"
UNPACED = {name: {"min_ms": 0, "max_ms": 0} for name in ("otp", "utility", "marketing")} | {"max_in_flight": 32}
TEMPLATES = {"code": ("OTP", "Your code is {{code}}."), "news": ("UTILITY", "Order {{code}} is ready.")}
QUICK_RECEIPTS = ("--server-ack-ms", "20", "--delivery-ack-ms", "40", "--read-ms", "60")
NUMBERS = 4
CONNECTIONS_PER_NUMBER = 8
SETTLE_SECONDS_MAX = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many messages travel at once, and how many one after the other."""

    messages: int = 2_000
    spaced: int = 100
    pause_seconds: float = 0.1


DEFAULT = Size()


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """Absolute figures, as information: they belong to this machine."""
    with open_system(workspace, RUN_DIR, gateway_arguments=QUICK_RECEIPTS) as system:
        return follow(system, open_accounts(system), size)


def open_accounts(system: System) -> list[Account]:
    """One number each, without pacing."""
    with Operator(system) as operator:
        return [
            operator.open_account(instance=f"bench{number}", templates=TEMPLATES, pacing=UNPACED)
            for number in range(NUMBERS)
        ]


def follow(system: System, accounts: Sequence[Account], size: Size) -> list[Line]:
    """The same over a system that runs already."""
    return run(_measure(system, accounts, size))


async def _measure(system: System, accounts: Sequence[Account], size: Size) -> list[Line]:
    async with open_sink() as sink:
        for account in accounts:
            await _register(system, account, sink)
        await _travel(system, accounts, sink, NUMBERS)
        spent = cpu_seconds(system)
        per_second = await _travel(system, accounts, sink, size.messages)
        costs = {name: after - spent[name] for name, after in cpu_seconds(system).items()}
        waits = await _otp_waits(system, accounts[0], size)
    return [
        rate(BENCH, f"accept to READ and webhook, {size.messages} messages, {NUMBERS} numbers", per_second),
        latency(BENCH, "OTP, idle: 202 to gateway", p50_ms=quantile(waits, 0.5), p99_ms=quantile(waits, 0.99)),
        *(_cost(name, seconds / size.messages) for name, seconds in costs.items()),
    ]


def _cost(name: str, seconds: float) -> Line:
    return Line(bench=BENCH, what=f"processor time of one message in {name}", figure=f"{seconds * 1_000:.2f} ms")


async def _register(system: System, account: Account, sink: WebhookSink) -> None:
    async with httpx.AsyncClient(headers={"x-api-key": account.api_key}, trust_env=False, timeout=15) as client:
        body = {"url": f"{sink.url}/{account.instance}", "name": "bench", "events": ["*"]}
        answer = await client.post(f"{system.api_url}/v1/webhooks", json=body)
        answer.raise_for_status()


async def _travel(system: System, accounts: Sequence[Account], sink: WebhookSink, count: int) -> float:
    """Messages per second from the first request to the last `message.read` at the customer."""
    sink.forget()
    started = time.perf_counter()
    async with asyncio.timeout(SETTLE_SECONDS_MAX):
        await asyncio.gather(
            *(_send(system, account, count // NUMBERS, CONNECTIONS_PER_NUMBER) for account in accounts)
        )
        await sink.until_read(count // NUMBERS * NUMBERS)
    return count / (time.perf_counter() - started)


_recipients = itertools.count(5_547_991_000_000)


async def _send(system: System, account: Account, count: int, connections: int, template: str = "news") -> list[Answer]:
    bodies: Iterator[Mapping[str, Any]] = (
        {"templateId": template, "variables": {"code": f"{number}"}, "destinationNumber": f"+{number}"}
        for number in itertools.islice(_recipients, count)
    )
    return await load(target_of(system, account), bodies, connections=connections, expect=202)


async def _otp_waits(system: System, account: Account, size: Size) -> list[float]:
    """Milliseconds from the client's 202 to the gateway's own record of the call; both clocks are this machine's."""
    before = len(await _ledger(system))
    answered: list[float] = []
    for _ in range(size.spaced):
        answered += [answer.answered_at for answer in await _send(system, account, 1, 1, template="code")]
        await asyncio.sleep(size.pause_seconds)

    async def all_have_left() -> bool:
        return len(await _ledger(system)) >= before + size.spaced

    await eventually(all_have_left, "every OTP at the gateway", timeout_seconds=SETTLE_SECONDS_MAX)
    called = sorted(datetime.fromisoformat(row["at"]).timestamp() for row in (await _ledger(system))[before:])
    return [max(0.0, at - since) * 1_000 for since, at in zip(answered, called, strict=True)]


async def _ledger(system: System) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(trust_env=False, timeout=15) as client:
        answer = await client.get(f"{system.gateway_url}/simulator/ledger")
        answer.raise_for_status()
        return list(answer.json())
