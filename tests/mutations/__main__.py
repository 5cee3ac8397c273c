"""Removes one rule after another and tells which test notices: `python -m tests.mutations [-k words]`."""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.conftest import PACKAGES, migrations_of
from tests.mutations.catalogue import ROOT, Mutation, fault_of, load
from tests.mutations.mutable_tree import MutableTree
from tests.mutations.trial import TESTS_FAILED, Outcome, Tests, Verdict, failures, judge
from tests.mutations.warm_template import VARIABLE, warm_template

from chassis.testing.template_database import TemplateDatabase
from local_stack.backing import open_backing

BASELINE_SECONDS = 1_800.0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """0 if every mutation was caught, 1 if one was not, 2 if there was nothing to learn from trying."""
    parser = argparse.ArgumentParser(prog="make mutations", description=__doc__)
    parser.add_argument(
        "-k",
        metavar="words",
        action="append",
        help="only rules whose name, file or tests hold all these words; given again, also those with the other words",
    )
    parser.add_argument("--list", action="store_true", help="only list the rules and the tests that guard them")
    given = parser.parse_args()
    chosen = [mutation for mutation in load() if any(is_wanted(mutation, words) for words in given.k or [""])]
    if given.list:
        for mutation in chosen:
            say(f"{mutation.name}  [{', '.join(mutation.killers)}]")
        return 0
    rotten = [fault for fault in map(fault_of, chosen) if fault is not None]
    if rotten or not chosen:
        say("\n".join(rotten) or "no rule has these words")
        return 2
    with tempfile.TemporaryDirectory(prefix="pilot-mutations-") as folder, servers() as environment:
        tree = MutableTree.copy(ROOT, Path(folder).resolve() / "tree")
        tree.check_sources()
        with Tests(tree, environment) as tests:
            return try_all(tree, tests, chosen)


def is_wanted(mutation: Mutation, words: str) -> bool:
    """Whether all words are found, whatever their case."""
    text = " ".join([mutation.name, mutation.file, *mutation.killers]).lower()
    return all(word in text for word in words.lower().split())


@contextlib.contextmanager
def servers() -> Iterator[Mapping[str, str]]:
    """What every run of tests gets as its environment: PostgreSQL and RabbitMQ, found or started once for all."""
    with open_backing(ROOT / ".run") as backing:
        template = TemplateDatabase(backing.postgres_admin_url, [migrations_of(package) for package in PACKAGES])
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        found = {
            "PILOT_POSTGRES_URL": backing.postgres_admin_url,
            "PILOT_RABBITMQ_URL": backing.rabbitmq.url("/"),
            "PILOT_RABBITMQ_MANAGEMENT_URL": backing.rabbitmq.management_url or "",
        }
        with warm_template(template, backing.postgres_admin_url) as warm:
            yield kept | {name: value for name, value in found.items() if value} | {VARIABLE: warm}


def try_all(tree: MutableTree, tests: Tests, mutations: Sequence[Mutation]) -> int:
    """The tests must pass as things are; then each mutation in turn, those with the same tests one after another."""
    started = time.monotonic()
    killers = sorted({killer for mutation in mutations for killer in mutation.killers})
    say(f"{len(mutations)} mutations, {len(killers)} selections of tests; first they must pass as things are")
    code, output = tests.run(_without_parts(killers), timeout_seconds=BASELINE_SECONDS, to_the_end=True)
    failing = failures(output)
    if code != 0 and not (code == TESTS_FAILED and failing):
        say(output[-3_000:])
        say("mutations: the tests do not run without any mutation")
        return 2
    say(
        f"{len(failing)} of them fail ({time.monotonic() - started:.0f} s)" + "".join(f"\n  {name}" for name in failing)
    )
    ordered = sorted(mutations, key=lambda mutation: (mutation.room, mutation.killers))
    counts = Counter(try_one(tree, tests, mutation, failing).verdict for mutation in ordered)
    summary = ", ".join(f"{counts[verdict]} {verdict.value.lower()}" for verdict in Verdict)
    say(f"mutations: {summary}, in {time.monotonic() - started:.0f} s")
    return 0 if counts[Verdict.CAUGHT] == len(mutations) else 1


def try_one(tree: MutableTree, tests: Tests, mutation: Mutation, failing: Sequence[str]) -> Outcome:
    """Prints one line. What teaches nothing is tried once more: on a busy machine a server may have been late."""
    started = time.monotonic()
    unsound = [name for name in failing if any(_holds(killer, name) for killer in mutation.killers)]
    if unsound:
        outcome = Outcome(verdict=Verdict.BROKEN, detail=f"fails without it too: {unsound[0]}")
    else:
        with tree.mutated(mutation):
            outcome = judge(*tests.run(mutation.killers))
            if outcome.verdict is Verdict.BROKEN:
                outcome = judge(*tests.run(mutation.killers))
    say(f"{outcome.verdict.value:<8}  {mutation.name}  [{outcome.detail}]  {time.monotonic() - started:.1f} s")
    return outcome


def _holds(killer: str, name: str) -> bool:
    return name == killer or name.startswith((f"{killer}::", f"{killer}["))


def _without_parts(killers: Sequence[str]) -> list[str]:
    """Node ids whose file is selected as a whole would run twice."""
    whole = {killer for killer in killers if "::" not in killer}
    return [killer for killer in killers if killer in whole or killer.partition("::")[0] not in whole]


if __name__ == "__main__":
    sys.exit(main())
