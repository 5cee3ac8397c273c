"""The order in which backing services are looked for is a decision that can be read as a table."""

import pytest

from local_stack.choice import RabbitMQSeen, Step, postgres_flaw, rabbitmq_flaw, steps
from local_stack.databases import PostgresSeen
from local_stack.settings import BackingSettings, BadSetting, Mode

ADDRESS, RUNNING, INSTALLED, EMBEDDED = Step.ADDRESS, Step.RUNNING, Step.INSTALLED, Step.EMBEDDED


@pytest.mark.parametrize(
    ("mode", "address_given", "private_wanted", "expected"),
    [
        (None, False, False, (RUNNING, INSTALLED, EMBEDDED)),
        (None, True, False, (ADDRESS,)),
        (None, False, True, (INSTALLED, EMBEDDED)),
        (None, True, True, (INSTALLED, EMBEDDED)),
        (Mode.FOUND, False, False, (RUNNING,)),
        (Mode.FOUND, True, False, (ADDRESS,)),
        (Mode.PRIVATE, True, False, (INSTALLED,)),
        (Mode.EMBEDDED, True, False, (EMBEDDED,)),
        (Mode.EMBEDDED, False, True, (EMBEDDED,)),
    ],
)
def test_steps(mode: Mode | None, address_given: bool, private_wanted: bool, expected: tuple[Step, ...]) -> None:
    assert steps(mode, address_given=address_given, private_wanted=private_wanted) == expected


@pytest.mark.parametrize(
    ("version", "databases", "roles", "flaw"),
    [
        (15, True, True, None),
        (17, True, True, None),
        (14, True, True, "version 14"),
        (17, False, True, "databases"),
        (17, True, False, "roles"),
    ],
)
def test_postgres_flaw(version: int, databases: bool, roles: bool, flaw: str | None) -> None:
    found = postgres_flaw(PostgresSeen(version=version, may_create_databases=databases, may_create_roles=roles))
    assert found is None if flaw is None else found is not None and flaw in found


@pytest.mark.parametrize(
    ("version", "vhosts", "flaw"),
    [((3, 10), True, None), ((4, 1), True, None), ((3, 9), True, "version 3.9"), ((3, 12), False, "virtual host")],
)
def test_rabbitmq_flaw(version: tuple[int, int], vhosts: bool, flaw: str | None) -> None:
    found = rabbitmq_flaw(RabbitMQSeen(version=version, may_create_vhosts=vhosts))
    assert found is None if flaw is None else found is not None and flaw in found


def test_settings_come_from_the_environment() -> None:
    settings = BackingSettings.read(
        {"PILOT_BACKING": "private", "PILOT_POSTGRES_URL": "postgresql://h/d", "PGUSER": ""}
    )
    assert settings == BackingSettings(mode=Mode.PRIVATE, postgres_url="postgresql://h/d")


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadSetting, match="found, private, embedded, not 'docker'"):
        BackingSettings.read({"PILOT_BACKING": "docker"})
