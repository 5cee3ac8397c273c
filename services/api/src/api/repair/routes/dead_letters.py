"""The operators' door to dead letters."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import AwareDatetime

from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.usecases.record_change import Change
from api.repair.schemas import (
    DiscardBody,
    DiscardManyBody,
    ReplayLettersBody,
    explained_body,
    letter_body,
    settled_body,
)
from api.repair.usecases.manage_letters import ReadDeadLetters, SettleDeadLetters
from contracts.ids import uuid7
from contracts.repair_questions import LETTERS_MAX, LetterState, ListDeadLetters

Text = Annotated[str | None, Query(max_length=255)]


def reading_router(letters: ReadDeadLetters) -> APIRouter:
    """Routes below /v1/admin/dead-letters that show."""
    routes = APIRouter(tags=["operator: dead letters"])

    @routes.get("/dead-letters")
    async def list_dead_letters(
        state: LetterState | None = None,
        queue: Text = None,
        reason: Text = None,
        type: Text = None,
        message_id: Annotated[UUID | None, Query(alias="messageId")] = None,
        filed_from: Annotated[AwareDatetime | None, Query(alias="from")] = None,
        filed_until: Annotated[AwareDatetime | None, Query(alias="to")] = None,
        limit: Annotated[int, Query(ge=1, le=LETTERS_MAX)] = 50,
        cursor: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="`nextCursor` of the page before.")] = None,
    ) -> dict[str, Any]:
        """What queues gave up on, latest filed first."""
        page = await letters.page(
            ListDeadLetters(
                state=state,
                queue=queue,
                reason=reason,
                type=type,
                message_id=message_id,
                filed_from=filed_from,
                filed_until=filed_until,
                before=cursor,
                limit=limit,
            )
        )
        following = str(page.letters[-1].number) if page.more and page.letters else None
        return {"items": [letter_body(letter) for letter in page.letters], "nextCursor": following}

    @routes.get("/dead-letters/{letter_id}")
    async def explain_dead_letter(letter_id: UUID) -> dict[str, Any]:
        """What a letter was, why it died, and what a replay would do now."""
        return explained_body(await letters.one(letter_id))

    return routes


def settling_router(guard: Guard, letters: SettleDeadLetters) -> APIRouter:
    """Routes below /v1/admin/dead-letters that change."""
    routes = APIRouter(tags=["operator: dead letters"])

    @routes.post("/dead-letters/replay", status_code=202)
    async def replay_dead_letters(
        body: ReplayLettersBody, change: Annotated[Change, Depends(guard.may(Action.DEAD_LETTER_REPLAY))]
    ) -> dict[str, Any]:
        """Put letters back into the queues they died in: these ones, or those of a kind, oldest first."""
        asked = body.model_dump(mode="json", exclude_none=True)
        await change.announce(uuid7(), asked=asked)
        if body.ids is not None:
            done = await letters.replay_these(body.ids)
        else:
            done = await letters.replay_kind(queue=body.queue, reason=body.reason, type=body.type, limit=body.limit)
        return settled_body(done, outcome="replayed")

    @routes.post("/dead-letters/discard")
    async def discard_dead_letters(
        body: DiscardManyBody, change: Annotated[Change, Depends(guard.may(Action.DEAD_LETTER_DISCARD))]
    ) -> dict[str, Any]:
        """Put letters aside for good."""
        await change.announce(uuid7(), asked=body.model_dump(mode="json"))
        done = await letters.discard_these(body.ids, reason=body.reason)
        return settled_body(done, outcome="discarded")

    @routes.post("/dead-letters/{letter_id}/replay", status_code=202)
    async def replay_dead_letter(
        letter_id: UUID, change: Annotated[Change, Depends(guard.may(Action.DEAD_LETTER_REPLAY))]
    ) -> dict[str, Any]:
        """Put a letter back into the queue it died in; what it was to be delivered until is looked at again."""
        await change.announce(letter_id, asked={"state": "REPLAYED"})
        await letters.replay_one(letter_id)
        return {"id": str(letter_id), "state": LetterState.REPLAYED.value}

    @routes.post("/dead-letters/{letter_id}/discard")
    async def discard_dead_letter(
        letter_id: UUID,
        body: DiscardBody,
        change: Annotated[Change, Depends(guard.may(Action.DEAD_LETTER_DISCARD))],
    ) -> dict[str, Any]:
        """Put a letter aside for good."""
        await change.announce(letter_id, asked={"state": "DISCARDED", "reason": body.reason})
        await letters.discard_one(letter_id, reason=body.reason)
        return {"id": str(letter_id), "state": LetterState.DISCARDED.value}

    return routes
