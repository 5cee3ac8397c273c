"""What operators see of API keys."""

from typing import Any

from api.administration.domain import ListedKey
from api.schemas import instant


def key_body(key: ListedKey) -> dict[str, Any]:
    """A key without its secret."""
    return {
        "id": str(key.key_id),
        "name": key.name,
        "tenantId": str(key.tenant_id),
        "projectId": str(key.project_id),
        "environment": key.environment,
        "scope": key.scope,
        "numberId": str(key.number_id) if key.number_id else None,
        "createdAt": instant(key.created_at),
        "revokedAt": instant(key.revoked_at),
        "lastUsedAt": instant(key.last_used_at),
    }
