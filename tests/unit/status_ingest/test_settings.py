"""A guessable credential at the edge is refused at start."""

import pytest

from chassis.settings import SettingsError
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
