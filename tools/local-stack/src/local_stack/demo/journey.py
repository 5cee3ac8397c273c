"""A customer's messages under way: sending them, and keeping track of where each one is."""

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

from local_stack.customer import WebhookReceiver
from local_stack.operator_api import Account

STATUSES = ("QUEUED", "DISPATCHED", "SENT", "DELIVERED", "READ")
NAMES = ("Ana", "Bruno", "Célia", "Davi", "Elisa", "Fábio", "Graça", "Heitor")
KINDS = (
    ("login_code", {"code": "482913"}),
    ("order_ready", {"order": "PX-2107"}),
    ("new_arrivals", {"store": "Loja da Praça"}),
)
TEMPLATES = {
    "login_code": ("OTP", "{{name}}, your code is {{code}}."),
    "order_ready": ("UTILITY", "Olá {{name}} 👋 order {{order}} is ready for pick-up."),
    "new_arrivals": ("MARKETING", "{{name}}, new arrivals at {{store}}: https://example.com/new"),
}


@dataclass(slots=True, kw_only=True)
class Parcel:
    """One message as its sender sees it."""

    message_id: str
    instance: str
    template: str
    status: str = "QUEUED"
    since_accepted_ms: int = 0
    webhooks: list[str] = field(default_factory=list)


class Journey:
    """Sends through the public API and follows by polling it; webhooks are counted by their message."""

    def __init__(self, api_url: str, accounts: Sequence[Account], receiver: WebhookReceiver) -> None:
        self._http = httpx.Client(base_url=f"{api_url}/v1", timeout=15, trust_env=False)
        self._keys = {account.instance: account.api_key for account in accounts}
        self._receiver = receiver
        self.parcels: list[Parcel] = []

    def send(self, count: int) -> None:
        """Accept `count` messages, spread over kinds and numbers."""
        with ThreadPoolExecutor(max_workers=4) as pool:
            self.parcels.extend(pool.map(self._send_one, itertools.islice(self._orders(), count)))

    def _orders(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        instances = itertools.cycle(self._keys)
        for number, (template, variables) in enumerate(itertools.cycle(KINDS)):
            name = NAMES[number % len(NAMES)]
            recipient = f"+5547991{number:06d}"
            yield next(instances), recipient, {"templateId": template, "name": f"{name} {number}", **variables}

    def _send_one(self, order: tuple[str, str, dict[str, str]]) -> Parcel:
        instance, recipient, variables = order
        template = variables.pop("templateId")
        answer = self._http.post(
            "/messages/send",
            json={"destinationNumber": recipient, "templateId": template, "variables": variables},
            headers={"x-api-key": self._keys[instance]},
        )
        if answer.status_code != 202:
            raise RuntimeError(f"not accepted: {answer.status_code} {answer.text[:300]}")
        return Parcel(message_id=answer.json()["id"], instance=instance, template=template)

    def refresh(self) -> None:
        """Ask the API about everything not yet READ, and sort in the webhooks received."""
        moving = [parcel for parcel in self.parcels if parcel.status not in ("READ", "FAILED")]
        with ThreadPoolExecutor(max_workers=4) as pool:
            list(pool.map(self._ask, moving))
        events: dict[str, list[str]] = {}
        for received in self._receiver.snapshot():
            if received.verified:
                events.setdefault(received.message_id, []).append(received.event.removeprefix("message."))
        for parcel in self.parcels:
            parcel.webhooks = list(dict.fromkeys(events.get(parcel.message_id, [])))

    def _ask(self, parcel: Parcel) -> None:
        answer = self._http.get(f"/messages/{parcel.message_id}", headers={"x-api-key": self._keys[parcel.instance]})
        answer.raise_for_status()
        body = answer.json()
        parcel.status = body["status"]

    def arrived(self) -> bool:
        """Everything is READ and the webhook that says so was received and verified."""
        return bool(self.parcels) and all(
            parcel.status == "READ" and "read" in parcel.webhooks for parcel in self.parcels
        )

    def unverified(self) -> int:
        """Webhooks whose signatures did not fit; there must be none."""
        return sum(not received.verified for received in self._receiver.snapshot())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
