"""The error bodies of Evolution API, so that a client meets the exact shapes it must classify."""

from typing import Any

CONNECTION_CLOSED = "Connection Closed"
PRISMA_AFTER_SEND = (
    "PrismaClientKnownRequestError: \nInvalid `this.prismaRepository.message.create()` invocation:\n\n\n"
    "Can't reach database server"
)
BOOM_CONNECTION_CLOSED: dict[str, Any] = {
    "data": None,
    "isBoom": True,
    "isServer": False,
    "output": {
        "statusCode": 428,
        "payload": {"statusCode": 428, "error": "Precondition Required", "message": CONNECTION_CLOSED},
        "headers": {},
    },
}


class EvolutionError(Exception):
    """An answer that is not a success: status and the JSON body as the gateway words it."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


def envelope(status: int, error: str, message: Any) -> EvolutionError:
    return EvolutionError(status, {"status": status, "error": error, "response": {"message": message}})


def bad_request(*messages: Any) -> EvolutionError:
    """`message` is an array for thrown exceptions; pass one list for the nested array of a schema violation."""
    return envelope(400, "Bad Request", list(messages))


def schema_violation(problems: list[str]) -> EvolutionError:
    return bad_request(problems)


def internal_error(text: str) -> EvolutionError:
    return envelope(500, "Internal Server Error", text)


def reading(name: str) -> str:
    """What Node says of a property of nothing."""
    return f"Cannot read properties of undefined (reading '{name}')"


def malformed_json(text: str) -> EvolutionError:
    return envelope(400, "Internal Server Error", text)


def body_too_large() -> EvolutionError:
    return envelope(413, "Internal Server Error", "request entity too large")


def unauthorized() -> EvolutionError:
    return envelope(401, "Unauthorized", "Unauthorized")


def unknown_instance(name: str) -> EvolutionError:
    return envelope(404, "Not Found", [f'The "{name}" instance does not exist'])


def instance_not_found(name: str) -> EvolutionError:
    return envelope(404, "Not Found", [f'Instance "{name}" not found'])


def unknown_route(method: str, url: str) -> EvolutionError:
    return envelope(404, "Not Found", [f"Cannot {method} {url}"])


def name_in_use(name: str) -> EvolutionError:
    return envelope(403, "Forbidden", [f'This name "{name}" is already in use.'])


def without_response_envelope(problems: list[str]) -> EvolutionError:
    """whatsappNumbers throws its schema violations naked."""
    return EvolutionError(400, {"status": 400, "error": "Bad Request", "message": [problems]})
