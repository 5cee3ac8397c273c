"""The operator's door to API keys."""

from fastapi import APIRouter

from api.access.schemas import KeyBody
from api.access.usecases import IssueKey


def router(keys: IssueKey) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: keys"])

    @routes.post("/keys", status_code=201)
    async def issue_key(body: KeyBody) -> dict[str, str]:
        """Issue an API key; the raw key is shown this once."""
        key_id, raw = await keys.issue(
            project_id=body.project_id, environment=body.environment, name=body.name, number_id=body.number_id
        )
        return {"id": str(key_id), "name": body.name, "key": raw}

    return routes
