"""Bodies of sending many messages at once."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, SkipValidation, StrictStr, ValidationError

from api.messages.domain.receipt import Receipt
from api.messages.schemas.sending import SendBody, accepted_body
from api.messages.usecases.accept_batch import Item, Result
from api.refusals import Refusal, RefusedError
from api.schemas import Body

ITEMS_MAX = 500


class BatchItem(SendBody):
    """One message of a batch; `idempotencyKey` is to it what the header is to a single send."""

    idempotency_key: StrictStr | None = None


class BatchBody(Body):
    """Messages that are judged one by one; the form of one says nothing about the others."""

    messages: list[SkipValidation[BatchItem]] = Field(min_length=1, max_length=ITEMS_MAX)

    def items(self) -> list[Item]:
        """The same as values; what has no valid form carries its refusal."""
        return [_item(given) for given in self.messages]


def _item(given: Any) -> Item:
    try:
        body = BatchItem.model_validate(given)
        return Item(request=body.request(), key=body.idempotency_key)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "messages"
        return Item(request=RefusedError(Refusal.VALIDATION_FAILED, f"{field}: {first['msg']}", field=field))
    except RefusedError as error:
        return Item(request=error)


def results_body(results: Sequence[Result]) -> dict[str, Any]:
    """The result of each message, in the order they were given."""
    bodies = [_result(index, result) for index, result in enumerate(results)]
    accepted = sum(1 for result in results if isinstance(result, Receipt))
    return {"accepted": accepted, "refused": len(bodies) - accepted, "results": bodies}


def _result(index: int, result: Result) -> dict[str, Any]:
    match result:
        case Receipt():
            return {"index": index, "status": 202, "replayed": result.replayed, "message": accepted_body(result)}
        case RefusedError():
            return {
                **result.members(),
                "index": index,
                "status": result.status,
                "error": result.sentence,
                "code": result.refusal.name,
            }
        case _:
            sentence = "This could not be stored right now; nothing was changed. Try again shortly."
            return {"index": index, "status": 503, "error": sentence, "code": "SERVICE_UNAVAILABLE"}
