"""Runs the benches and prints one table: `python -m tests.bench [name…]`."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.bench import accept, claim, dispatch, faults, ingest, life, notify, relay, wakeup
from tests.bench.report import Line, show

from local_stack.backing import open_backing
from local_stack.workspace import Workspace, open_workspace

RUN_DIR = Path(__file__).parents[2] / ".run"
BENCHES: Mapping[str, Callable[[Workspace], list[Line]]] = {
    "relay": relay.measure,
    "wakeup": wakeup.measure,
    "faults": faults.measure,
    "claim": claim.measure,
    "dispatch": dispatch.measure,
    "notify": notify.measure,
    "accept": accept.measure,
    "ingest": ingest.measure,
    "life": life.measure,
}


def main() -> None:
    """Each bench gets a workspace of its own; all lines come out together at the end."""
    parser = argparse.ArgumentParser(prog="bench", description="Ratios measured in one run on this machine.")
    parser.add_argument("names", nargs="*", default=list(BENCHES), metavar="name", help=", ".join(BENCHES))
    names = parser.parse_args().names
    lines: list[Line] = []
    with open_backing(RUN_DIR) as backing:
        for name in names:
            with open_workspace(backing, "bench") as workspace:
                lines += BENCHES[name](workspace)
    show(lines)


if __name__ == "__main__":
    main()
