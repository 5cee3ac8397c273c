"""The command line of the fuzzer; ends with 1 if anything but the expected was seen."""

import argparse
import json
import sys
from pathlib import Path

from tests.fuzz.webhooks import fuzz

from local_stack.backing import open_backing
from local_stack.workspace import open_workspace

RUN_DIR = Path(__file__).parents[2] / ".run"
GROWTH_KIB_MAX = 32 * 1024


def main() -> int:
    """Print what was seen."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Broken webhooks against a running status-ingest.")
    parser.add_argument("--bodies", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with open_backing(RUN_DIR) as backing, open_workspace(backing, "fuzz") as workspace:
        report = fuzz(workspace, bodies=given.bodies, seed=given.seed)
    accepted = sum(times for (expected, _), times in report.statuses.items() if expected == 200)
    findings = {
        "answers (expected, seen)": {str(pair): times for pair, times in sorted(report.statuses.items())},
        "kept of those answered 200": [report.kept, accepted],
        "posts per second": round(report.posts_per_second),
        "quarantined": dict(report.quarantined),
        "resident MiB": [round(kib / 1024) for kib in report.resident_kib],
        "growth since a fifth of the way, MiB": round(report.growth_kib / 1024, 1),
        "errors logged": [len(report.errors_logged), *report.errors_logged[:5]],
        "alive, and a sound receipt goes through": report.is_alive,
    }
    sys.stdout.write(json.dumps(findings, indent=2) + "\n")
    is_sound = not report.wrong and not report.errors_logged and report.kept == accepted and report.is_alive
    return 0 if is_sound and report.growth_kib <= GROWTH_KIB_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
