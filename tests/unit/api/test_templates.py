"""Which templates may be sent."""

from dataclasses import replace

import pytest

from api.refusals import Refusal, RefusedError
from api.templates.domain import body_to_send
from contracts.values import Environment

from .people import TEMPLATE


def test_only_an_existing_approved_template_is_sent() -> None:
    cases = (
        (None, Environment.TEST, Refusal.TEMPLATE_NOT_FOUND),
        (replace(TEMPLATE, body=None), Environment.TEST, Refusal.NO_APPROVED_VERSION),
        (replace(TEMPLATE, production_approved=False), Environment.LIVE, Refusal.TEMPLATE_NOT_APPROVED_FOR_PRODUCTION),
    )
    for template, environment, refusal in cases:
        with pytest.raises(RefusedError) as raised:
            body_to_send(template, environment)
        assert raised.value.refusal is refusal
    assert body_to_send(replace(TEMPLATE, production_approved=False), Environment.TEST) == TEMPLATE.body
    assert body_to_send(TEMPLATE, Environment.LIVE) == TEMPLATE.body


def test_a_template_is_sent_by_its_own_project_in_its_own_environment() -> None:
    cases = (
        (replace(TEMPLATE, foreign=True), Refusal.TEMPLATE_PROJECT_MISMATCH),
        (replace(TEMPLATE, environment=Environment.TEST), Refusal.TEMPLATE_ENVIRONMENT_MISMATCH),
    )
    for template, refusal in cases:
        with pytest.raises(RefusedError) as raised:
            body_to_send(template, Environment.LIVE)
        assert raised.value.refusal is refusal
    assert body_to_send(replace(TEMPLATE, environment=Environment.LIVE), Environment.LIVE) == TEMPLATE.body
