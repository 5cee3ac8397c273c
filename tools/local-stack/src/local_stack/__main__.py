"""The command line of the local stack: `up` runs the whole system until Ctrl-C, `demo` also shows it at work."""

import argparse
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from local_stack.backing import open_backing, say_on_stderr
from local_stack.demo.story import tell
from local_stack.environment import Service
from local_stack.search import NoBacking
from local_stack.services import ServiceDidNotStart
from local_stack.settings import BadSetting, demo_once
from local_stack.system import System, open_system
from local_stack.waiting import DidNotHappen
from local_stack.workspace import open_workspace

RUN_DIR = Path(__file__).resolve().parents[4] / ".run"


def up() -> int:
    """Start everything and stay until Ctrl-C or SIGTERM."""
    with (
        open_backing(RUN_DIR) as backing,
        open_workspace(backing, "up") as workspace,
        open_system(workspace, RUN_DIR) as system,
    ):
        sys.stdout.write(_addresses(system))
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            say_on_stderr("stopping")
    return 0


def _addresses(system: System) -> str:
    rows = {
        "API": f"{system.api_url}/docs",
        "operator key": system.credentials.operator_key,
        "gateway simulator": system.gateway_url,
        "gateway key": system.credentials.gateway_key,
        **{f"{service} metrics": f"{system.ports.url(service)}/metrics" for service in Service},
        "database": system.workspace.database_admin_url,
        "broker": system.workspace.broker_url,
        "logs": str(system.log_dir),
    }
    width = max(map(len, rows))
    return "".join(f"{name:<{width}}  {value}\n" for name, value in rows.items()) + "Ctrl-C stops everything.\n"


def demo() -> int:
    """Set up, send, watch and show where to look; 1 unless everything arrived."""
    return tell(RUN_DIR, once=demo_once())


COMMANDS: Mapping[str, Callable[[], int]] = {"up": up, "demo": demo}


def main() -> int:
    parser = argparse.ArgumentParser(prog="local_stack")
    parser.add_argument("command", choices=sorted(COMMANDS))
    command = COMMANDS[parser.parse_args().command]
    try:
        return command()
    except KeyboardInterrupt:
        return 130
    except (NoBacking, BadSetting, ServiceDidNotStart, DidNotHappen) as problem:
        say_on_stderr(str(problem))
        return 1


if __name__ == "__main__":
    sys.exit(main())
