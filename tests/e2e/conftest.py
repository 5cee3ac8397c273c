"""One whole system for all stories: five services and the gateway simulator as processes, in a workspace of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.client import Client

from local_stack.backing import Backing, open_backing
from local_stack.customer import WebhookReceiver
from local_stack.environment import Service
from local_stack.operator_api import Account, Operator
from local_stack.system import System, open_system
from local_stack.workspace import open_workspace

RUN_DIR = Path(__file__).parents[2] / ".run"
FRUGAL = {service: {"POOL_SIZE": "4"} for service in Service}
"""Systems of several test folders live side by side, and a server as it is installed takes a hundred connections."""
TEMPLATES = {
    "order_ready": ("UTILITY", "Olá {{name}} 👋 order {{order}} is ready."),
    "login_code": ("OTP", "{{name}}, your code is {{code}}."),
}


@pytest.fixture(scope="session")
def e2e_backing() -> Iterator[Backing]:
    with open_backing(RUN_DIR) as backing:
        yield backing


@pytest.fixture(scope="session")
def system(e2e_backing: Backing) -> Iterator[System]:
    with open_workspace(e2e_backing, "e2e") as workspace, open_system(workspace, RUN_DIR, overrides=FRUGAL) as running:
        yield running


@pytest.fixture(scope="session")
def account(system: System) -> Account:
    with Operator(system) as operator:
        return operator.open_account(instance="florist", templates=TEMPLATES)


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver().listening() as listening:
        yield listening


@pytest.fixture
def client(system: System, account: Account) -> Iterator[Client]:
    with Client(system, account) as opened:
        yield opened
