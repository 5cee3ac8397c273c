"""`pilot dead-letters`: what queues gave up on, and what becomes of it."""

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from pilot_cli.commands.nouns import columns, given, group
from pilot_cli.desk import After, AsJson, Desk, Limit, Yes, desk_of
from pilot_cli.failures import Exit, Failure, worst

COMMANDS = group("dead-letters", "What queues gave up on: look, replay, discard.")
AT_ONCE = 50
OF_A_KIND_MAX = 1_000
COLUMNS = columns(
    id="id", state="state", queue="queue", reason="reason", cause="cause", type="type", message="messageId",
    deaths="count", last_died="lastDiedAt",
)  # fmt: skip
DETAILS = (
    *COLUMNS,
    *columns(
        first_died="firstDiedAt", replays="replays", note="note", error="error",
        what="explanation.what", why="explanation.why", replay="explanation.replay",
    ),
)  # fmt: skip
VERBS = ("replayed", "discarded", "kept")
RESULT = columns(id="id", state="state", replayed="replayed", discarded="discarded", kept="kept")

Queue = Annotated[str | None, typer.Option("--queue", help="Only those that died in this queue.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Only those that died for this reason.")]
Type = Annotated[str | None, typer.Option("--type", help="Only statements of this type.")]
Ids = Annotated[list[str] | None, typer.Argument(help="Ids; a single - reads them from stdin, one a line.")]


@COMMANDS.command("list")
def list_letters(
    context: typer.Context,
    state: Annotated[str | None, typer.Option("--state", help="Only in this state.")] = None,
    queue: Queue = None,
    reason: Reason = None,
    type: Type = None,
    message: Annotated[str | None, typer.Option("--message", help="Only about this message.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="Not seen before, RFC 3339.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Not seen after, RFC 3339.")] = None,
    limit: Limit = 50,
    cursor: After = None,
    as_json: AsJson = False,
) -> None:
    """Dead letters that fit every condition."""
    desk = desk_of(context, as_json=as_json)
    wanted = {"state": state, "queue": queue, "reason": reason, "type": type, "messageId": message}
    pages = desk.operator().pages(
        "dead-letters", rows_max=limit, cursor=cursor, **wanted, **{"from": since, "to": until}
    )
    desk.show_list(pages, COLUMNS, nothing="No dead letters.")


@COMMANDS.command("show")
def show_letter(
    context: typer.Context, letter: Annotated[str, typer.Argument(help="Its id.")], as_json: AsJson = False
) -> None:
    """One dead letter, and why it died."""
    desk = desk_of(context, as_json=as_json)
    desk.show(desk.operator().get("dead-letters", letter), DETAILS)


@COMMANDS.command("replay")
def replay_letters(
    context: typer.Context,
    ids: Ids = None,
    queue: Queue = None,
    reason: Reason = None,
    type: Type = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Put dead letters back on their way: some by id, or all of a kind by --queue, --reason and --type."""
    desk = desk_of(context, as_json=as_json)
    kind = given(queue=queue, reason=reason, type=type)
    chosen = _chosen(ids)
    if bool(chosen) == bool(kind):
        raise Failure(Exit.USAGE, "Give ids, or a kind by --queue, --reason and --type, and not both.")
    what = f"{len(chosen)} dead letters" if chosen else "all dead letters with " + _spelled(kind)
    desk.confirm(f"Replay {what}?", yes=yes)
    if kind:
        _tell(desk, _replay_kind(desk, kind), [])
    else:
        _each_chunk(desk, chosen, "replay", {})


def _replay_kind(desk: Desk, kind: Mapping[str, Any]) -> list[Any]:
    """One request after the other, oldest letters first, until none is left or none of the last ones could go."""
    answers: list[Any] = []
    while not answers or (answers[-1]["more"] and answers[-1]["replayed"]):
        answers.append(desk.operator().post("dead-letters", "replay", body={**kind, "limit": OF_A_KIND_MAX}))
    return answers


@COMMANDS.command("discard")
def discard_letters(
    context: typer.Context,
    because: Annotated[str, typer.Option("--because", help="Why; it is kept with the letter.")],
    ids: Ids = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give dead letters up for good; what they carried is not done."""
    desk = desk_of(context, as_json=as_json)
    chosen = _chosen(ids)
    if not chosen:
        raise Failure(Exit.USAGE, "Give the ids of what to discard.")
    desk.confirm(f"Discard {len(chosen)} dead letters for good?", yes=yes)
    _each_chunk(desk, chosen, "discard", {"reason": because})


def _each_chunk(desk: Desk, ids: Sequence[str], verb: str, extra: dict[str, Any]) -> None:
    operator = desk.operator()
    if len(ids) == 1:
        desk.show(operator.post("dead-letters", ids[0], verb, body=extra or None), RESULT)
        return
    chunks = [list(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE)]
    results = desk.each(
        f"{verb} of {len(ids)}", chunks, lambda chunk: operator.post("dead-letters", verb, body={"ids": chunk, **extra})
    )
    answers = [result for _, result in results if not isinstance(result, Failure)]
    _tell(desk, answers, [result for _, result in results if isinstance(result, Failure)])


def _tell(desk: Desk, answers: Sequence[Any], failures: Sequence[Failure]) -> None:
    """What became of all; raises `Failure` if any request failed, or any letter stays where it is."""
    if desk.screen.as_json:
        desk.screen.json(answers[0] if len(answers) == 1 and not failures else list(answers))
    else:
        desk.screen.record({verb: sum(one.get(verb, 0) for one in answers) for verb in VERBS}, RESULT)
    kept = [f"{letter['id']}: {letter['sentence']}" for one in answers for letter in one.get("keptLetters", ())]
    codes = [one.exit_code for one in failures] + ([Exit.REFUSED] if kept else [])
    if codes:
        raise Failure(worst(codes), "\n".join([*(one.sentence for one in failures), *kept]))


def _chosen(ids: Sequence[str] | None) -> list[str]:
    if list(ids or []) == ["-"]:
        return [line.strip() for line in sys.stdin if line.strip()]
    return list(dict.fromkeys(ids or []))


def _spelled(kind: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in kind.items())
