"""What the stories do with the public API: send, read, wait, register a webhook."""

from typing import Any, Self

import httpx

from local_stack.customer import WebhookReceiver
from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until

ARRIVE_SECONDS = 60


class Client:
    """One customer's view of one system."""

    def __init__(self, system: System, account: Account) -> None:
        self._system, self.instance = system, account.instance
        self.http = httpx.Client(
            base_url=f"{system.api_url}/v1", headers={"x-api-key": account.api_key}, timeout=15, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, to: str, text: str) -> dict[str, Any]:
        """The 202's body."""
        answer = self.http.post("/messages/send", json={"destinationNumber": to, "text": text})
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def read(self, reference: str) -> dict[str, Any]:
        """A message as the API shows it."""
        answer = self.http.get(f"/messages/{reference}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def wait_for(self, reference: str, status: str) -> dict[str, Any]:
        """The message once it has that status."""
        wait_until(lambda: bool(self.read(reference)["status"] == status), what=status, timeout_seconds=ARRIVE_SECONDS)
        return self.read(reference)

    def register(self, receiver: WebhookReceiver, *, path: str) -> None:
        """Have every event posted to the receiver."""
        answer = self.http.post("/webhooks", json={"url": f"{receiver.url}/{path}", "name": path, "events": ["*"]})
        assert answer.status_code == 201, answer.text
        receiver.secrets[path] = answer.json()["secret"]

    def ledger(self) -> list[dict[str, Any]]:
        """Every send from this customer's number that the gateway really accepted."""
        url = f"{self._system.gateway_url}/simulator/ledger"
        answer = httpx.get(url, params={"instance": self.instance}, timeout=15, trust_env=False)
        answer.raise_for_status()
        rows = answer.json()
        return list(rows["rows"] if isinstance(rows, dict) else rows)

    def script(self, **behaviour: Any) -> None:
        """Have the gateway misbehave for this customer's number; see the simulator's README."""
        url = f"{self._system.gateway_url}/simulator/script"
        body = {"match": {"instance": self.instance}, **behaviour}
        answer = httpx.put(url, json=body, timeout=15, trust_env=False)
        assert answer.status_code < 300, answer.text
