"""A number made known through us is pointed at its own address, never at the shared one."""

from typing import Any

import pytest

from api.numbers.adapters import EvolutionWebhooks
from api.own_numbers.adapters import EvolutionNumbers
from api.settings import Settings
from chassis.settings import SettingsError
from contracts.values import GatewayAccess
from gateways.evolution.pairing import Pairing
from gateways.evolution.webhook_address import own_url

ACCESS = GatewayAccess(base_url="https://gateway.example", api_key="k")
SHARED = "https://hooks.example.com/webhooks/evolution/an-ingest-token-for-tests"
NEEDED = {"database_url": "postgresql://a@b/c", "broker_url": "amqp://a@b/c", "operator_key": "an-operator-key"}


class Gateway:
    """Does what it is asked and remembers the addresses it was given."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    async def create(self, target: object, **_: object) -> Pairing:
        return Pairing(state=None, qr_code=None, code=None)

    async def connect(self, target: object) -> Pairing:
        return Pairing(state=None, qr_code=None, code=None)

    async def set_webhook(self, target: object, *, url: str) -> None:
        self.urls.append(url)


async def test_created_connected_and_registered_numbers_get_their_own_address() -> None:
    gateway: Any = Gateway()
    numbers = EvolutionNumbers(quick=gateway, patient=gateway, home=ACCESS, ingest_url=SHARED)
    await numbers.create("loja", ACCESS, phone=None)
    await numbers.connect("shop", ACCESS, phone=None)
    assert await EvolutionWebhooks(instances=gateway, ingest_url=SHARED).point("loja", ACCESS)
    assert gateway.urls == [own_url(SHARED, name) for name in ("loja", "shop", "loja")]
    assert not any("an-ingest-token" in url for url in gateway.urls)


async def test_without_an_address_nothing_is_pointed_anywhere() -> None:
    gateway: Any = Gateway()
    await EvolutionNumbers(quick=gateway, patient=gateway, home=ACCESS, ingest_url=None).create(
        "loja", ACCESS, phone=None
    )
    assert not await EvolutionWebhooks(instances=gateway, ingest_url=None).point("loja", ACCESS)
    assert gateway.urls == []


@pytest.mark.parametrize("url", ["http://host/", "http://host/webhooks/evolution/short", "host"])
def test_an_address_without_a_token_is_refused_at_start(url: str) -> None:
    with pytest.raises(SettingsError, match="INGEST_URL"):
        Settings.load(**NEEDED, ingest_url=url)
    assert Settings.load(**NEEDED, ingest_url=SHARED).ingest_url == SHARED
