"""Why consent is not asked for: the first reason that holds is told."""

from dataclasses import replace

from api.optins.domain import OptIn, OptInReason, skip_reason, status_of
from contracts.ids import uuid7
from contracts.values import Environment

from .people import NOW, NUMBER, PROJECT_ID


def test_every_reason_is_told_in_its_order() -> None:
    assert skip_reason(enabled=True, number=NUMBER, environment=Environment.LIVE, project_id=PROJECT_ID) is None
    own = replace(NUMBER, platform_default=False)
    live, test = Environment.LIVE, Environment.TEST
    assert skip_reason(enabled=False, number=None, environment=test, project_id=None) is OptInReason.OPTIN_DISABLED
    for number in (None, own):
        reason = skip_reason(enabled=True, number=number, environment=test, project_id=None)
        assert reason is OptInReason.NON_DEFAULT_INSTANCE
    assert skip_reason(enabled=True, number=NUMBER, environment=test, project_id=None) is OptInReason.NOT_LIVE
    assert skip_reason(enabled=True, number=NUMBER, environment=live, project_id=None) is OptInReason.MISSING_PROJECT


def test_consent_counts_until_it_is_withdrawn() -> None:
    given = OptIn(opt_in_id=uuid7(), first_opt_in_at=NOW, last_seen_at=NOW, revoked_at=None)
    assert status_of(None, opt_in=given).authorized
    for missing in (None, replace(given, revoked_at=NOW)):
        status = status_of(None, opt_in=missing)
        assert (status.required, status.authorized, status.reason) == (True, False, OptInReason.NO_OPTIN)
