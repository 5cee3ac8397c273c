"""How one number reaches its gateway and how its messages are to look, for whoever looks at them later."""

from chassis.database import Transaction
from contracts.values import PacingPolicy
from dispatcher.domain.jobs import SealedAccess
from dispatcher.store.sql import sql

_MANNER = sql("""
    SELECT number_id, sealed_access, CAST(pacing AS text) AS pacing FROM dispatcher.lanes WHERE instance = :instance
""")


async def manner(tx: Transaction, instance: str) -> tuple[SealedAccess, PacingPolicy] | None:
    """A number's sealed way to its gateway and its policy; None for an unknown lane."""
    row = (await tx.execute(_MANNER, {"instance": instance})).one_or_none()
    if row is None:
        return None
    sealed = SealedAccess(number_id=row.number_id, sealed=row.sealed_access)
    return sealed, PacingPolicy.model_validate_json(row.pacing)
