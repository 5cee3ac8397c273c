"""How a claimed job is sent: in its number's manner, under its reserved id, within its gateway's budget for retries."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from contracts.facts import MessageDispatched
from contracts.facts.messages import Proof
from contracts.matching import text_of
from contracts.parts import Buttons, ReplyButton
from contracts.sending import SendingPolicy
from contracts.values import Category, MessageContent, MessageRef, PacingPolicy
from dispatcher.domain.verdicts import Held, Released, Verdict
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.look_up import LookUp
from dispatcher.usecases.manners import Manners
from dispatcher.usecases.resolve_uncertain import ResolveUncertain
from dispatcher.usecases.retry_budgets import RetryBudgets
from gateways.port import Abilities, Access, NotSent, NotSentReason, Taken, Unknown, UnknownReason
from gateways.reserved import reserved_id

from .loops import nobody
from .rig import FAST, PACED, RECIPIENT, TEXT, Rig
from .sealing import KEYS, PEPPER, hash_of_text

DOWN = NotSent(reason=NotSentReason.UNREACHABLE)
LOST = Unknown(reason=UnknownReason.CONNECTION_LOST)
REPLIES = Buttons(buttons=(ReplyButton(label="Sim", id="1"), ReplyButton(label="Não", id="2")), title="Oi")


class Able:
    """A gateway that can do everything."""

    async def abilities(self, access: Access) -> Abilities:
        return Abilities(native_choices=True, reserved_ids=True)


@dataclass
class Replica:
    """A rig with what a process remembers between its calls."""

    rig: Rig
    manners: Manners = field(default_factory=Manners)
    seconds: float = 0.0
    budgets: RetryBudgets = field(init=False)

    def __post_init__(self) -> None:
        self.budgets = RetryBudgets(monotonic=lambda: self.seconds)

    async def dispatch(self, *, late_by: float = 0.0) -> list[Verdict]:
        """Claim and carry out, `late_by` seconds after the claim."""
        rig = self.rig
        claimed = await rig.claim()
        carry_out = CarryOut(
            sender=rig.gateway,
            keys=KEYS,
            book=rig.book,
            rules=rig.rules,
            settling=rig.settling,
            dice=rig.roll,
            manners=self.manners,
            budgets=self.budgets,
        )
        return [await carry_out(one, rig.book.monotonic() - late_by) for one in claimed.attempts]

    async def resolve(self) -> int:
        rig = self.rig
        look_up = LookUp(database=rig.database, lookup=rig.gateway, keys=KEYS, pepper=PEPPER, manners=self.manners)
        resolve = ResolveUncertain(
            database=rig.database, look_up=look_up, rules=rig.rules, wake=nobody, dice=rig.roll, clock=rig.now
        )
        return await resolve()

    def spend_everything(self) -> None:
        while self.budgets.allows("http://gateway", is_retry=True):
            pass


async def with_buttons(rig: Rig) -> tuple[MessageRef, MessageContent]:
    accepted = rig.message()
    content = MessageContent(to=RECIPIENT, text="Confirma?", part=REPLIES)
    sealed = KEYS.seal(content.model_dump_json().encode(), aad=accepted.ref.message_id.bytes)
    [ref] = await rig.accept(
        accepted.model_copy(update={"sealed": sealed, "text_hash": hash_of_text(text_of(content))})
    )
    return ref, content


@pytest.mark.parametrize(
    ("fields", "pacing", "late_by", "typing_ms"),
    [
        ({}, PACED, 0, len(TEXT) * 50),
        ({"category": Category.OTP}, PACED, 0, 0),
        ({}, FAST, 0, 0),
        ({}, PACED.model_copy(update={"sending": SendingPolicy(typing=False)}), 0, 0),
        ({"window": 1.0}, PACED, 0, 0),
        ({}, PACED, 29.5, 0),
    ],
    ids=["paced", "otp", "unpaced", "switched off", "window closes", "lease runs low"],
)
async def test_typing_is_shown_where_there_is_time_for_it(
    rig: Rig, fields: dict[str, Any], pacing: PacingPolicy, late_by: float, typing_ms: int
) -> None:
    await rig.open_lane(pacing=pacing)
    [ref] = await rig.accept(**fields)
    await Replica(rig).dispatch(late_by=late_by)
    assert [outbound.typing_ms for outbound in rig.gateway.sent] == [typing_ms]
    assert (await rig.job(ref)).state == "DISPATCHED"


@pytest.mark.parametrize("is_able", [True, False])
async def test_buttons_go_as_taps_or_words_and_either_way_their_echo_confirms_them(rig: Rig, is_able: bool) -> None:
    await rig.open_lane()
    ref, content = await with_buttons(rig)
    rig.gateway.answers.append(LOST)
    await Replica(rig, Manners(inspector=Able() if is_able else None)).dispatch()
    [sent] = rig.gateway.sent
    assert (sent.part, sent.text) == ((REPLIES, "Confirma?") if is_able else (None, text_of(content)))
    await rig.echo("K7", said="*Oi*\n\nConfirma?\n\n1. Sim\n2. Não")
    job = await rig.job(ref)
    assert (job.state, job.key_id, job.proof) == ("DISPATCHED", "K7", "echo")


async def test_buttons_that_the_store_shows_without_their_taps_are_recognised(rig: Rig) -> None:
    await rig.open_lane()
    ref, _ = await with_buttons(rig)
    rig.gateway.answers.append(LOST)
    await Replica(rig).dispatch()
    rig.gateway.store(RECIPIENT, "*Oi*\n\nConfirma?\n", "K8")
    rig.now.pass_(61)
    await Replica(rig).resolve()
    assert (await rig.job(ref)).key_id == "K8"


async def test_a_message_found_under_its_reserved_id_is_settled_at_once(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    replica = Replica(rig, Manners(inspector=Able()))
    own = reserved_id(ref.message_id, ref.round)
    rig.gateway.answers.append(LOST)
    await replica.dispatch()
    assert rig.gateway.sent[0].reserved_id == own
    rig.now.pass_(1)
    assert await replica.resolve() == 1
    assert (await rig.job(ref)).state == "UNCERTAIN", "not found so early proves nothing"
    rig.gateway.store(RECIPIENT, "whatever the gateway made of it", own)
    rig.now.pass_(11)
    await replica.resolve()
    job = await rig.job(ref)
    assert (job.state, job.key_id) == ("DISPATCHED", own)
    assert rig.now() < job.started_at + rig.rules.absence_believed_after
    [fact] = await rig.said(MessageDispatched)
    assert (fact.key_id, fact.proof, fact.duplicate_possible) == (own, Proof.LOOKUP, False)
    assert rig.gateway.lookups == 0, "nothing was searched by its text"


async def test_two_alike_are_told_apart_by_their_reserved_ids(rig: Rig) -> None:
    await rig.open_lane()
    [first] = await rig.accept()
    replica = Replica(rig, Manners(inspector=Able()))
    rig.gateway.answers.extend([LOST, LOST])
    await replica.dispatch()
    [second] = await rig.accept()
    await replica.dispatch()
    rig.gateway.store(RECIPIENT, TEXT, reserved_id(second.message_id, second.round))
    rig.now.pass_(1)
    assert await replica.resolve() == 2
    assert [(await rig.job(ref)).state for ref in (first, second)] == ["UNCERTAIN", "DISPATCHED"]


async def test_a_resend_asks_for_the_same_id(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept()
    replica = Replica(rig, Manners(inspector=Able()))
    rig.gateway.answers.append(DOWN)
    await replica.dispatch()
    rig.now.pass_(2)
    await rig.promote()
    await replica.dispatch()
    ids = [outbound.reserved_id for outbound in rig.gateway.sent]
    assert len(ids) == 2
    assert ids[0] is not None
    assert ids[0] == ids[1]


async def test_a_number_that_does_not_honour_reserved_ids_is_offered_no_more(rig: Rig) -> None:
    await rig.open_lane()
    replica = Replica(rig, Manners(inspector=Able()))
    rig.gateway.answers.append(Taken(key_id="3EB0OTHER", id_honoured=False))
    for said in ("one", "two"):
        await rig.accept(said=said)
        await replica.dispatch()
    assert [outbound.reserved_id is None for outbound in rig.gateway.sent] == [False, True]


async def test_a_retry_without_budget_waits_uncalled_and_unspent_while_first_tries_go_on(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(said="one")
    replica = Replica(rig)
    rig.gateway.answers.append(DOWN)
    await replica.dispatch()
    replica.spend_everything()
    rig.now.pass_(2)
    await rig.promote()
    await rig.accept(said="two")
    verdicts = await replica.dispatch()
    assert sorted(type(verdict).__name__ for verdict in verdicts) == ["Dispatched", "Released"]
    job = await rig.job(ref)
    assert (job.state, job.reason, job.attempt) == ("SCHEDULED", "RETRY_BUDGET", 1)
    assert timedelta(seconds=1) <= job.due_at - rig.now() <= timedelta(seconds=4)
    tried = await rig.rows("SELECT outcome FROM dispatcher.attempts WHERE message_id = :id", id=ref.message_id)
    assert [row.outcome for row in tried] == ["NOT_SENT"]
    assert [outbound.text for outbound in rig.gateway.sent] == ["one", "two"]
    replica.seconds = 10.0
    rig.now.pass_(4)
    await rig.promote()
    await replica.dispatch()
    job = await rig.job(ref)
    assert (job.state, job.attempt) == ("DISPATCHED", 2)
    assert (await rig.lane()).in_flight == 0


async def test_a_retry_without_budget_is_never_failed_for_it(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(window=6)
    replica = Replica(rig)
    rig.gateway.answers.append(DOWN)
    await replica.dispatch()
    replica.spend_everything()
    rig.now.pass_(3)
    await rig.promote()
    [verdict] = await replica.dispatch()
    assert isinstance(verdict, Released)
    assert (await rig.job(ref)).due_at < rig.now() + timedelta(seconds=2), "half of what is left of its window"


async def test_a_gateway_that_answers_well_pays_for_its_retries(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(said="one")
    replica = Replica(rig)
    rig.gateway.answers.append(DOWN)
    await replica.dispatch()
    replica.spend_everything()
    for number in range(11):
        await rig.accept(said=f"more {number}")
    for _ in range(2):
        await replica.dispatch()
    rig.now.pass_(2)
    await rig.promote()
    await replica.dispatch()
    assert (await rig.job(ref)).state == "DISPATCHED"


@pytest.mark.parametrize("reason", [NotSentReason.DISCONNECTED, NotSentReason.INSTANCE_NOT_READY])
async def test_case_41_what_waited_for_its_number_needs_no_budget(rig: Rig, reason: NotSentReason) -> None:
    await rig.open_lane()
    [ref] = await rig.accept()
    replica = Replica(rig)
    rig.gateway.answers.append(NotSent(reason=reason))
    [verdict] = await replica.dispatch()
    assert isinstance(verdict, Held)
    replica.spend_everything()
    rig.now.pass_(60)
    await rig.probe()
    await replica.dispatch()
    assert (await rig.job(ref)).state == "DISPATCHED"
