"""Which number a webhook belongs to: the key's own, or one of its tenant that a tenant key names."""

from dataclasses import replace

import pytest

from api.access.domain import KeyScope
from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError
from api.webhooks.domain import Asking, own_number, tenants_number
from contracts.ids import uuid7

from .people import CALLER, NOW, NUMBER

TENANT = replace(CALLER, scope=KeyScope.TENANT, number=None)
OWN = replace(NUMBER, tenant_id=CALLER.tenant_id, platform_default=False)


def test_a_key_stands_for_its_number_and_names_no_other() -> None:
    for number_id in (None, NUMBER.number_id):
        assert own_number(Asking(caller=CALLER, number_id=number_id)) is NUMBER
    with pytest.raises(RefusedError) as refused:
        own_number(Asking(caller=CALLER, number_id=uuid7()))
    assert (refused.value.refusal, refused.value.field) == (Refusal.NUMBER_MISMATCH, "whatsappNumberId")


def test_without_any_number_the_platform_is_at_fault() -> None:
    with pytest.raises(RefusedError) as refused:
        own_number(Asking(caller=replace(CALLER, number=None), number_id=None))
    assert refused.value.refusal is Refusal.DEFAULT_NUMBER_NOT_CONFIGURED
    assert own_number(Asking(caller=TENANT, number_id=None)) is None


@pytest.mark.parametrize("found", [None, replace(OWN, tenant_id=uuid7()), NUMBER, replace(OWN, deleted_at=NOW)])
def test_a_tenant_key_names_a_number_of_its_own_tenant(found: Number | None) -> None:
    assert tenants_number(OWN, TENANT) is OWN
    with pytest.raises(RefusedError) as refused:
        tenants_number(found, TENANT)
    assert (refused.value.refusal, refused.value.field) == (Refusal.NUMBER_NOT_FOUND, "whatsappNumberId")
