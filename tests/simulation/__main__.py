"""Simulates lanes in virtual time and prints what became of the traffic: `python -m tests.simulation lanes`."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence

from tests.simulation.lanes import Size, run
from tests.simulation.measures import Journal, quantile

from contracts.values import Category


def main() -> None:
    """One table by kind of number, then what no lane may break."""
    parser = argparse.ArgumentParser(prog="simulation", description="Lanes in virtual time, the same by seed.")
    parser.add_argument("what", choices=["lanes"])
    for name, default in (("tenants", 1_000), ("messages", 1_000_000), ("lanes", 10), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--days", type=float, default=7)
    given = vars(parser.parse_args())
    size = Size(**{name: value for name, value in given.items() if name != "what"})
    began = time.perf_counter()
    journals = list(run(size))
    for line in report(journals):
        sys.stdout.write(line + "\n")
    sys.stdout.write(f"took {time.perf_counter() - began:.1f} s\n")


def report(journals: Sequence[Journal]) -> Iterator[str]:
    """Lines of text."""
    yield f"{'number':<8}{'category':<11}{'sent':>9}{'expired':>9}{'wait p50':>11}{'wait p99':>11}{'longest':>11}"
    for name in dict.fromkeys(journal.profile.name for journal in journals):
        of_kind = [journal for journal in journals if journal.profile.name == name]
        for category in Category:
            waits = sorted(wait for journal in of_kind for wait in journal.waits[category])
            expired = sum(journal.expired[category] for journal in of_kind)
            waited = "".join(f"{quantile(waits, share):>10,.1f}s" for share in (0.5, 0.99, 1))
            yield f"{name:<8}{category:<11}{len(waits):>9,}{expired:>9,}{waited}"
    shares = [journal.shares for journal in journals if not journal.profile.policy.first_contacts_per_day]
    yield (
        f"fairness: among tenants waiting throughout {sum(share.windows for share in shares):,} windows, the largest "
        f"difference of service per weight was {max(share.deviation_max for share in shares):.2f} messages (bound 2)"
    )
    yield f"sent after the deadline: {sum(journal.late for journal in journals)}"
    yield f"shortest gap: {min(journal.gap_margin_min() for journal in journals):+.3f} s against what is allowed"
    yield f"fullest window of a cap: {max(journal.cap_use_max() for journal in journals):.1%} of it"


if __name__ == "__main__":
    main()
