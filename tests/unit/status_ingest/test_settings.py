"""A guessable credential at the edge is refused at start; addresses are told by a command; the second source is off."""

import pytest

from chassis.settings import SettingsError
from gateways.evolution.webhook_address import own_path
from status_ingest.app import tell_addresses
from status_ingest.settings import Settings

NEEDED = {"database_url": "postgresql://a@b/c", "broker_url": "amqp://a@b/c"}


def test_several_tokens_may_be_accepted_at_once() -> None:
    settings = Settings.load(**NEEDED, ingest_token=" the-current-ingest-token, the-previous-ingest-token ,")
    assert settings.tokens() == ("the-current-ingest-token", "the-previous-ingest-token")


@pytest.mark.parametrize("token", ["", "short", ",", "the-current-ingest-token,short"])
def test_a_short_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(SettingsError, match="INGEST_TOKEN") as caught:
        Settings.load(**NEEDED, ingest_token=token)
    assert "short" not in str(caught.value)


def test_the_gateways_exchange_is_heard_only_if_its_broker_is_told() -> None:
    settings = Settings.load(**NEEDED, ingest_token="the-current-ingest-token")
    assert settings.gateway_amqp_url is None
    assert settings.exchanges() == ("evolution_exchange",)
    told = {"gateway_amqp_url": "amqps://u:p@gateway/v", "gateway_amqp_exchanges": "loja, shop"}
    settings = Settings.load(**NEEDED, **told, ingest_token="the-current-ingest-token")
    assert settings.exchanges() == ("loja", "shop")
    with pytest.raises(SettingsError, match="GATEWAY_AMQP_URL"):
        Settings.load(**NEEDED, gateway_amqp_url="http://gateway", ingest_token="the-current-ingest-token")


async def test_a_command_tells_the_addresses_under_the_current_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**NEEDED, "ingest_token": "the-current-ingest-token,the-previous-ingest-token"}.items():
        monkeypatch.setenv(name.upper(), value)
    assert await tell_addresses(["loja", "shop"]) == 0
    current = "the-current-ingest-token"
    assert capsys.readouterr().out.splitlines() == [own_path(current, "loja"), own_path(current, "shop")]
    assert await tell_addresses(["loja", "a/b"]) == 2
    assert capsys.readouterr().out == ""
