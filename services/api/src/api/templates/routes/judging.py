"""The operator's door to templates."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends

from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.usecases.record_change import Change
from api.templates.domain import variables_of
from api.templates.schemas import DecisionBody, ProductionBody, RejectionBody, TemplateBody, waiting_body
from api.templates.usecases.create_template import CreateTemplate
from api.templates.usecases.judge_templates import JudgeTemplate, ListWaitingTemplates


def router(guard: Guard, create: CreateTemplate, waiting: ListWaitingTemplates) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: templates"])
    Creating = Annotated[Change, Depends(guard.may(Action.TEMPLATE_CREATE))]

    @routes.get("/templates/waiting")
    async def list_waiting() -> list[dict[str, Any]]:
        """Templates whose newest version waits for a decision."""
        return [waiting_body(template) for template in await waiting.list()]

    @routes.post("/templates", status_code=201)
    async def create_template(body: TemplateBody, change: Creating) -> dict[str, Any]:
        """Create a template with an approved first version."""
        template_id = await change.creating(
            lambda: create.create(
                project_id=body.project_id,
                name=body.name,
                category=body.category,
                body=body.body,
                production_approved=body.production_approved,
            ),
            id_of=lambda created: created,
        )
        return {
            "id": str(template_id),
            "name": body.name,
            "category": body.category.value,
            "variables": list(variables_of(body.body)),
        }

    return routes


def decision_router(guard: Guard, judge: JudgeTemplate) -> APIRouter:
    """What an operator decides about a template, below /v1/admin."""
    routes = APIRouter(tags=["operator: templates"])
    Approving = Annotated[Change, Depends(guard.may(Action.TEMPLATE_APPROVE))]
    Rejecting = Annotated[Change, Depends(guard.may(Action.TEMPLATE_REJECT))]
    Releasing = Annotated[Change, Depends(guard.may(Action.TEMPLATE_APPROVE_FOR_PRODUCTION))]

    @routes.post("/templates/{template_id}/approve")
    async def approve_template(template_id: UUID, body: DecisionBody, change: Approving) -> dict[str, Any]:
        """Approve the submitted version."""
        return waiting_body(await change.of(template_id, lambda: judge.approve(template_id, version=body.version)))

    @routes.post("/templates/{template_id}/reject")
    async def reject_template(template_id: UUID, body: RejectionBody, change: Rejecting) -> dict[str, Any]:
        """Reject the submitted version, with a reason its author reads."""
        rejected = await change.of(
            template_id, lambda: judge.reject(template_id, version=body.version, reason=body.reason)
        )
        return waiting_body(rejected)

    @routes.post("/templates/{template_id}/production-approval")
    async def approve_for_production(template_id: UUID, body: ProductionBody, change: Releasing) -> dict[str, Any]:
        """Let LIVE keys send the newest approved version, or stop them."""
        released = await change.of(
            template_id, lambda: judge.approve_for_production(template_id, approved=body.approved)
        )
        return waiting_body(released)

    return routes
