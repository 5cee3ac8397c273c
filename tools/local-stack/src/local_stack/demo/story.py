"""The demonstration from start to end: set up, send, watch, show where to look."""

import threading
import time
from pathlib import Path

import httpx
from rich.console import Console
from rich.live import Live

from local_stack.backing import open_backing
from local_stack.customer import WebhookReceiver
from local_stack.demo.journey import TEMPLATES, Journey
from local_stack.demo.screen import addresses, console, progress, totals
from local_stack.operator_api import Account, Operator
from local_stack.system import System, open_system
from local_stack.workspace import open_workspace

MESSAGES = 24
ARRIVE_WITHIN_SECONDS = 120.0
REFRESH_SECONDS = 0.15


def tell(run_dir: Path, *, once: bool) -> int:
    """0 if every message was READ and its webhook verified. With `once` it ends then, else on Ctrl-C."""
    screen = console()
    started = time.monotonic()
    with (
        open_backing(run_dir) as backing,
        open_workspace(backing, "demo") as workspace,
        open_system(workspace, run_dir) as system,
        WebhookReceiver().listening() as receiver,
    ):
        screen.print(f"System up after {time.monotonic() - started:.1f} s.")
        accounts = _open_accounts(system)
        for account in accounts:
            _register_endpoint(system, account, receiver)
        journey = Journey(system.api_url, accounts, receiver)
        arrived = _watch(journey, screen)
        screen.print()
        screen.print(f"{'Everything arrived' if arrived else 'Not everything arrived'}: ", totals(journey))
        screen.print(f"Wall time {time.monotonic() - started:.1f} s.")
        if not once:
            screen.print(addresses(system, accounts[0].api_key))
            _until_interrupted()
        journey.close()
    return 0 if arrived else 1


def _open_accounts(system: System) -> list[Account]:
    with Operator(system) as operator:
        return [operator.open_account(instance=name, templates=TEMPLATES) for name in ("florist", "bakery")]


def _register_endpoint(system: System, account: Account, receiver: WebhookReceiver) -> None:
    answer = httpx.post(
        f"{system.api_url}/v1/webhooks",
        json={"url": f"{receiver.url}/{account.instance}", "name": account.instance, "events": ["*"]},
        headers={"x-api-key": account.api_key},
        timeout=15,
        trust_env=False,
    )
    if answer.status_code != 201:
        raise RuntimeError(f"webhook not registered: {answer.status_code} {answer.text[:300]}")
    receiver.secrets[account.instance] = answer.json()["secret"]


def _watch(journey: Journey, screen: Console) -> bool:
    journey.send(MESSAGES)
    deadline = time.monotonic() + ARRIVE_WITHIN_SECONDS
    with Live(progress(journey), console=screen, refresh_per_second=10) as live:
        while time.monotonic() < deadline:
            journey.refresh()
            live.update(progress(journey))
            if journey.arrived():
                break
            time.sleep(REFRESH_SECONDS)
    return journey.arrived() and journey.unverified() == 0


def _until_interrupted() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return
