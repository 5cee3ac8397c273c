"""The simulator's parts, opened in order and closed in reverse, and what happens to a message once it is accepted."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolution_simulator import ids
from evolution_simulator.connection import Gate
from evolution_simulator.faults import Fault, FaultBook
from evolution_simulator.instances import Instance, Registry, State
from evolution_simulator.jid import is_person
from evolution_simulator.ledger import Entry, Ledger
from evolution_simulator.messages import MessageStore, sent_body
from evolution_simulator.receipts import USUAL, PlannedReceipt, plan
from evolution_simulator.scripts import Receipts, ScriptBook, Status
from evolution_simulator.settings import SimulatorSettings
from evolution_simulator.webhooks import WebhookPoster

_EARLY_RECEIPTS_WAIT_SECONDS = 5.0
_FINAL_CLOSE_REASON = 401


class Simulator:
    """One running gateway: instances, ledger, messages, scripts and webhooks."""

    def __init__(self, settings: SimulatorSettings) -> None:
        self.settings = settings
        settings.ledger.parent.mkdir(parents=True, exist_ok=True)
        self.registry = Registry(beside(settings.ledger, "instances.json"))
        self.ledger = Ledger(settings.ledger, settings.ledger_batch_max)
        self.scripts = ScriptBook(magic_numbers=settings.magic_numbers)
        self.faults = FaultBook()
        self.gate = Gate()
        self.acts: Counter[str] = Counter()
        self.known_addresses: set[tuple[str, str]] = set()
        self.entries: list[Entry] = []
        self._dice = random.Random(settings.seed)  # noqa: S311 - shuffling, not a secret
        self._timers: set[asyncio.TimerHandle] = set()

    async def start(self) -> None:
        for instance in self.settings.instances:
            name, _, token = instance.partition(":")
            self.registry.begin(name, token, self.settings.webhook)
        self.webhooks = WebhookPoster(self.settings)
        self.messages = MessageStore(beside(self.settings.ledger, "statuses.jsonl"))
        for entry in self.ledger.open():
            self._remember(entry)
            if self.settings.resume_receipts and self.messages.has_row(entry.key_id):
                self._owe(entry, self.messages.outstanding(entry, USUAL))

    async def stop(self) -> None:
        for timer in self._timers:
            timer.cancel()
        await self.webhooks.close()
        await self.ledger.close()
        self.messages.close()

    @property
    def scheduled_receipts(self) -> int:
        return len(self._timers)

    async def accept(self, entry: Entry, receipts: Receipts) -> dict[str, Any]:
        """Write a send down for good, let its echo and receipts loose, and return the 201 body."""
        receipts = self._as_restricted(entry, receipts)
        # A caller whose connection is cut in between changes nothing: what is on disk is also known.
        await asyncio.shield(self._write_down(entry))
        body = sent_body(entry, ids.instance_id(entry.instance))
        if self.messages.has_row(entry.key_id):
            self._echo(entry, body, receipts)
            await self._begin_receipts(entry, receipts)
        return body

    def restart(self, *, forget_messages: bool, loading_seconds: float) -> None:
        """As after the death of the process: retries are gone, what WhatsApp still owes comes, numbers load one day.

        Scripts stay, for they are the test's. `forget_messages` loses the store behind the look-ups, receipts included.
        """
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self.webhooks.forget()
        if forget_messages:
            self.messages.forget()
        elif self.settings.resume_receipts:
            for entry in self.entries:
                if self.messages.has_row(entry.key_id):
                    self._owe(entry, self.messages.outstanding(entry, USUAL))
        if loading_seconds > 0:
            for instance in self.registry.all():
                self.faults.put(instance.name, Fault.NOT_LOADED, seconds=loading_seconds)

    def change_state(self, instance: Instance, state: State, *, silent: bool = False) -> Instance:
        """Connect or disconnect a number; told as a final close, unless silent as a transient drop is."""
        changed = self.registry.put(replace(instance, state=state, paired=instance.paired or state is State.OPEN))
        if silent:
            return changed
        reason = _FINAL_CLOSE_REASON if state is State.CLOSE else 200
        data: dict[str, Any] = {"instance": instance.name, "state": state, "statusReason": reason}
        if state is State.OPEN:
            data |= {"wuid": instance.owner_jid, "profileName": instance.name, "profilePictureUrl": None}
        self.webhooks.post(changed, "connection.update", data)
        return changed

    async def _write_down(self, entry: Entry) -> None:
        await self.ledger.append(entry)
        self._remember(entry)

    def _as_restricted(self, entry: Entry, receipts: Receipts) -> Receipts:
        """The first message of a restricted number to somebody ends in ERROR, without a word about why."""
        if receipts != Receipts() or not self.faults.is_restricted(entry.instance):
            return receipts
        if any(
            earlier.instance == entry.instance and earlier.jid == entry.jid and self.messages.reached(earlier.key_id)
            for earlier in self.entries
        ):
            return receipts
        self.acts["restricted"] += 1
        return Receipts(error_after_ms=self.settings.server_ack_ms, statuses=())

    def _remember(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.known_addresses.add((entry.instance, entry.jid))
        self.messages.add(entry)

    def _echo(self, entry: Entry, body: dict[str, Any], receipts: Receipts) -> None:
        instance = self.registry.get(entry.instance)
        if instance is None:
            return
        for _ in range({"on": 1, "off": 0, "duplicate": 2}[receipts.echo]):
            self.webhooks.post(instance, "send.message", body)

    async def _begin_receipts(self, entry: Entry, receipts: Receipts) -> None:
        if not is_person(entry.jid):
            return
        planned = plan(receipts, self._usual_delays_ms(), self._dice)
        self.messages.record_plan(entry.key_id, (receipt.status for receipt in planned))
        if not receipts.early:
            self._schedule(entry, planned)
            return
        attempts = [attempt for receipt in planned for attempt in self._happen(entry, receipt)]
        if attempts:
            await asyncio.wait(attempts, timeout=_EARLY_RECEIPTS_WAIT_SECONDS)

    def _owe(self, entry: Entry, statuses: Sequence[Status]) -> None:
        if is_person(entry.jid):
            self._schedule(entry, plan(Receipts(statuses=tuple(statuses)), self._usual_delays_ms(), self._dice))

    def _schedule(self, entry: Entry, planned: Sequence[PlannedReceipt]) -> None:
        for receipt in planned:
            self._later(entry, receipt)

    def _later(self, entry: Entry, receipt: PlannedReceipt) -> None:
        def happen() -> None:
            self._timers.discard(timer)
            self._happen(entry, receipt)

        timer = asyncio.get_running_loop().call_later(receipt.after_ms / 1000, happen)
        self._timers.add(timer)

    def _happen(self, entry: Entry, receipt: PlannedReceipt) -> Sequence[asyncio.Future[None]]:
        if not self.messages.has_row(entry.key_id):
            return ()
        self.messages.record_status(entry.key_id, receipt.status)
        instance = self.registry.get(entry.instance)
        if instance is None:
            return ()
        data = {
            "keyId": entry.key_id,
            "remoteJid": entry.jid,
            "fromMe": True,
            "status": receipt.status,
            "instanceId": instance.id,
            "messageId": ids.message_row_id(entry.key_id),
        }
        return [self.webhooks.post(instance, "messages.update", data) for _ in range(receipt.posts)]

    def _usual_delays_ms(self) -> dict[Status, int]:
        settings = self.settings
        return {
            Status.ERROR: settings.server_ack_ms,
            Status.SERVER_ACK: settings.server_ack_ms,
            Status.DELIVERY_ACK: settings.delivery_ack_ms,
            Status.READ: settings.read_ms,
            Status.PLAYED: settings.read_ms,
        }


def beside(ledger: Path, suffix: str) -> Path:
    """A file of ours next to the ledger: `x.jsonl` has `x.instances.json` and `x.statuses.jsonl`."""
    return ledger.with_name(f"{ledger.stem}.{suffix}")
