"""Tries the ways to obtain a server one after the other and tells the user why a way led nowhere."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from local_stack.choice import Step
from local_stack.postgres import PostgresDidNotStart, PrivatePostgres
from local_stack.postgres_binaries import embedded_postgres, installed_postgres
from local_stack.probing import NotUsable, check_postgres, check_rabbitmq, running_postgres, running_rabbitmq
from local_stack.rabbitmq import PrivateRabbitMQ, RabbitMQDidNotStart
from local_stack.rabbitmq_binaries import installed_rabbitmq
from local_stack.rabbitmq_container import ContainerFailed, ContainerRabbitMQ, docker_answers
from local_stack.rabbitmq_packages import PackagesNotAvailable, packages_can_be_unpacked, unpacked_rabbitmq
from local_stack.settings import BackingSettings
from local_stack.vhosts import Broker
from local_stack.waiting import DidNotHappen

OwnRabbitMQ = PrivateRabbitMQ | ContainerRabbitMQ

_FAILURES = (NotUsable, PostgresDidNotStart, RabbitMQDidNotStart, PackagesNotAvailable, ContainerFailed, DidNotHappen)


class NoBacking(RuntimeError):
    """Raised when no way led to a server; the message says what was tried and what to install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    run_dir: Path
    settings: BackingSettings
    stack: ExitStack
    say: Callable[[str], None]

    def postgres(self, plan: tuple[Step, ...]) -> str | PrivatePostgres:
        reasons: list[str] = []
        for step in plan:
            try:
                found = self._postgres_by(step)
            except _FAILURES as reason:
                reasons.append(f"{step}: {reason}")
                self.say(f"PostgreSQL {step}: {reason}")
                continue
            self.say(f"PostgreSQL: {step}")
            return found
        hint = "install PostgreSQL 15 or newer, or set PILOT_POSTGRES_URL to a server where we may create databases"
        raise NoBacking("\n  ".join(["no PostgreSQL; tried:", *reasons, hint]))

    def rabbitmq(self, plan: tuple[Step, ...]) -> Broker | OwnRabbitMQ:
        reasons: list[str] = []
        for step in plan:
            try:
                found = self._rabbitmq_by(step)
            except _FAILURES as reason:
                reasons.append(f"{step}: {reason}")
                self.say(f"RabbitMQ {step}: {reason}")
                continue
            self.say(f"RabbitMQ: {step}")
            return found
        hint = "install RabbitMQ 3.10 or newer, or set PILOT_RABBITMQ_URL to a broker where we may create virtual hosts"
        raise NoBacking("\n  ".join(["no RabbitMQ; tried:", *reasons, hint]))

    def _postgres_by(self, step: Step) -> str | PrivatePostgres:
        match step:
            case Step.ADDRESS:
                return check_postgres(str(self.settings.postgres_url))
            case Step.RUNNING:
                return running_postgres(self.settings)
            case Step.INSTALLED:
                binaries = installed_postgres()
            case Step.EMBEDDED:
                binaries = embedded_postgres()
            case _:
                assert_never(step)
        if binaries is None:
            raise NotUsable("no programs of a sufficient version")
        return self.stack.enter_context(PrivatePostgres(self.run_dir, binaries))

    def _rabbitmq_by(self, step: Step) -> Broker | OwnRabbitMQ:
        match step:
            case Step.ADDRESS:
                return check_rabbitmq(str(self.settings.rabbitmq_url), self.settings.rabbitmq_management_url)
            case Step.RUNNING:
                return running_rabbitmq()
            case Step.INSTALLED:
                binaries = installed_rabbitmq()
                if binaries is None:
                    raise NotUsable("no programs of a sufficient version")
                return self.stack.enter_context(PrivateRabbitMQ(self.run_dir, binaries))
            case Step.EMBEDDED:
                return self._embedded_rabbitmq()
        assert_never(step)

    def _embedded_rabbitmq(self) -> OwnRabbitMQ:
        try:
            if packages_can_be_unpacked():
                binaries = unpacked_rabbitmq(self.run_dir / "cache", self.say)
                return self.stack.enter_context(PrivateRabbitMQ(self.run_dir, binaries))
            reason = "no apt and dpkg here to fetch and unpack packages with"
        except (PackagesNotAvailable, RabbitMQDidNotStart) as failure:
            reason = str(failure)
        if not docker_answers():
            raise NotUsable(f"{reason}; and no Docker engine answers")
        self.say(f"RabbitMQ in a container, because: {reason}")
        return self.stack.enter_context(ContainerRabbitMQ(self.run_dir))
