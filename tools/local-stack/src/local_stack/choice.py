"""Decides in which order backing services are looked for and whether a server that was found is good enough."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from local_stack.databases import PostgresSeen
from local_stack.postgres_binaries import VERSION_MIN as POSTGRES_VERSION_MIN
from local_stack.rabbitmq_binaries import VERSION_MIN as RABBITMQ_VERSION_MIN
from local_stack.settings import Mode


class Step(StrEnum):
    """One way to obtain a server."""

    ADDRESS = "address"
    RUNNING = "running"
    INSTALLED = "installed"
    EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class RabbitMQSeen:
    """What a broker that we could log in to looks like from outside."""

    version: tuple[int, int]
    may_create_vhosts: bool


def steps(mode: Mode | None, *, address_given: bool, private_wanted: bool) -> tuple[Step, ...]:
    """The ways to try, in order. A caller that wants to restart the server needs one of its own."""
    match mode:
        case Mode.FOUND:
            return (Step.ADDRESS,) if address_given else (Step.RUNNING,)
        case Mode.PRIVATE:
            return (Step.INSTALLED,)
        case Mode.EMBEDDED:
            return (Step.EMBEDDED,)
        case None:
            own = (Step.INSTALLED, Step.EMBEDDED)
            if private_wanted:
                return own
            return (Step.ADDRESS,) if address_given else (Step.RUNNING, *own)
    assert_never(mode)


def postgres_flaw(seen: PostgresSeen) -> str | None:
    """Why this server will not do, or None if it will."""
    if seen.version < POSTGRES_VERSION_MIN:
        return f"it is version {seen.version}, we need {POSTGRES_VERSION_MIN} or newer"
    if not seen.may_create_databases:
        return "its user may not create databases"
    if not seen.may_create_roles:
        return "its user may not create roles"
    return None


def rabbitmq_flaw(seen: RabbitMQSeen) -> str | None:
    """Why this broker will not do, or None if it will."""
    if seen.version < RABBITMQ_VERSION_MIN:
        stated, needed = ".".join(map(str, seen.version)), ".".join(map(str, RABBITMQ_VERSION_MIN))
        return f"it is version {stated}, we need {needed} or newer"
    if not seen.may_create_vhosts:
        return "neither its management API nor rabbitmqctl lets us create a virtual host"
    return None
