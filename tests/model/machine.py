"""Dispatchers that crash, stall and lose leases, over a gateway that does not always say what it did."""

from collections.abc import Coroutine
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from sqlalchemy import text
from tests.integration.dispatcher.fleet import hear, receipt
from tests.integration.dispatcher.rig import Now
from tests.model.books import MAY_HAVE_LEFT, Books
from tests.model.replicas import Replica
from tests.model.stage import (
    NOT_CARRIED_OUT,
    POLICY,
    QUIET_STEPS,
    Choices,
    Fate,
    Stage,
    choices,
    mostly,
    one,
    rarely,
    replicas,
)
from tests.model.truth import Truth

from contracts.dispatch_questions import CancelMessages
from contracts.facts import MessageDispatchFailed
from contracts.registry import decode
from contracts.status import Status
from contracts.values import Category, ConnectionState
from dispatcher.usecases.cancel_messages import CancelJobs
from gateways.port import Answer, Taken, Unknown, UnknownReason

REPORTED = (Status.SENT, Status.DELIVERED, Status.FAILED)


class Dispatchers(Choices):
    """Promises are made, claimed, called for, forgotten and found again; after every step the books are checked."""

    stage: ClassVar[Stage]

    def __init__(self) -> None:
        super().__init__()
        self.now = self.stage.now
        self.now.value = Now().value
        self.truth = Truth(self.now)
        self.books = Books()
        for rig in self.stage.rigs:
            rig.gateway = self.truth  # type: ignore[assignment]
        self.replicas = [Replica(rig, self.truth) for rig in self.stage.rigs]
        self.heard, self.is_heard = 0, True
        self.run(self._open())

    def run(self, work: Coroutine[Any, Any, object]) -> None:
        """A step that may write; what was said in it is heard before the next one."""
        self.stage.loop.run_until_complete(work)
        self.is_heard = False

    async def _open(self) -> None:
        rig = self.stage.rigs[0]
        await rig.clear()
        await rig.open_lane(pacing=POLICY)

    # What clients and their messages do

    @initialize(said=st.lists(st.sampled_from(["one", "two"]), min_size=2, max_size=3), fate=st.sampled_from(Fate))
    def begin_with(self, said: list[str], fate: Fate) -> None:
        """Calls under way, so that every example has something to lose."""
        for words in said:
            self.accept(said=words, category=Category.UTILITY, window=3_600.0, due_in=0.0, is_delivered=True)
        self.claim(replica=0, capacity=2, at_once=True)
        match fate:
            case Fate.OPEN:
                pass
            case Fate.CRASHED:
                self.gateway_decides(chosen=0, is_sent=True)
                self.crash(chosen=0)
            case Fate.GIVEN_UP:
                self.answer(chosen=0, is_sent=False, is_told=False, refusal=NOT_CARRIED_OUT[0])
                self.now.pass_(1)
                self.the_number_tells(chosen=0, is_lost=False, is_receipt=False, status=Status.SENT)
                self.time_passes(replica=1, seconds=12.0, is_mute=False, renews=False)
                self.gateway_decides(chosen=0, is_sent=True)
            case Fate.REFUSED:
                self.answer(chosen=0, is_sent=False, is_told=True, refusal=NOT_CARRIED_OUT[-1])
                self.run(self._listen())
                self.reprocess(replica=1)
            case _:
                is_sent = fate in (Fate.TAKEN, Fate.SENT_UNTOLD)
                self.gateway_decides(chosen=0, is_sent=is_sent)
                is_told = fate in (Fate.TAKEN, Fate.NOT_SENT)
                self.answer(chosen=0, is_sent=is_sent, is_told=is_told, refusal=NOT_CARRIED_OUT[0])

    @rule(
        said=st.sampled_from(["one", "two", "three"]),
        category=st.sampled_from(list(Category)),
        window=st.sampled_from([25.0, 120.0, 3_600.0]),
        due_in=st.sampled_from([0.0, 0.0, 40.0]),
        is_delivered=mostly,
    )
    @precondition(lambda self: len(self.books.promised) < 6)
    def accept(self, said: str, category: Category, window: float, due_in: float, is_delivered: bool) -> None:
        accepted = self.stage.rigs[0].message(said=said, category=category, window=window, due_in=due_in)
        self.books.promise(accepted, ("5547991234567", said))
        if is_delivered:
            self.run(self.replicas[0].take_in(accepted))

    @rule(replica=replicas, chosen=choices, asked=st.sampled_from(["delivered", "requeued", "possibly sent"]))
    @precondition(lambda self: self.books.promised)
    def come_again(self, replica: int, chosen: int, asked: str) -> None:
        """The broker delivers once more, or the reconciler asks; the first time for what was not delivered before."""
        accepted, asking = self.promise(chosen), self.replicas[replica]
        if asked == "delivered":
            self.run(asking.take_in(accepted))
        else:
            self.run(asking.requeue(accepted, possibly_sent=asked == "possibly sent"))

    @rule(chosen=choices)
    @precondition(lambda self: self.books.open())
    def cancel(self, chosen: int) -> None:
        keys = self.books.open()
        ref = self.books.promised[keys[chosen % len(keys)]].ref
        cancel = CancelJobs(database=self.stage.rigs[0].database, clock=self.now)

        async def ask() -> None:
            answer = await cancel(CancelMessages(refs=(ref,)))
            self.stage.note("canceled", len(answer.canceled))

        self.run(ask())

    @rule(replica=replicas)
    @precondition(lambda self: self.reprocessable())
    def reprocess(self, replica: int) -> None:
        failed = self.reprocessable()[0]
        end, known = self.books.finals[failed], self.books.promised[failed]
        assert isinstance(end, MessageDispatchFailed)
        again = known.model_copy(
            update={
                "ref": known.ref.model_copy(update={"round": known.ref.round + 1}),
                "deliver_by": self.now(),
                "deliver_until": self.now() + (known.deliver_until - known.deliver_by),
                "accepted_at": self.now(),
                "duplicate_possible": known.duplicate_possible or end.error_code in MAY_HAVE_LEFT,
            }
        )
        self.books.promise(again, self.books.words[failed])
        self.run(self.replicas[replica].take_in(again))
        self.stage.note("reprocessed")

    # What dispatchers do

    @rule(replica=replicas, capacity=st.integers(1, 3), at_once=mostly)
    @precondition(lambda self: self.books.open())
    def claim(self, replica: int, capacity: int, at_once: bool) -> None:
        async def look() -> None:
            claiming = self.replicas[replica]
            await claiming.rig.promote()
            await claiming.claim(capacity)
            while at_once and claiming.claimed:
                await claiming.begin()

        self.run(look())

    @rule(chosen=choices)
    @precondition(lambda self: self.claimers())
    def begin(self, chosen: int) -> None:
        self.run(one(self.claimers(), chosen).begin())

    @rule(chosen=choices, is_sent=st.booleans())
    @precondition(lambda self: self.truth.undecided())
    def gateway_decides(self, chosen: int, is_sent: bool) -> None:
        """Whether or not its caller still lives."""
        self.decide(one(self.truth.undecided(), chosen), is_sent)

    @rule(chosen=choices, is_sent=st.booleans(), is_told=mostly, refusal=st.sampled_from(NOT_CARRIED_OUT))
    @precondition(lambda self: self.under_way())
    def answer(self, chosen: int, is_sent: bool, is_told: bool, refusal: Answer) -> None:
        """Late if time has passed since the call; untold, the caller gives up, maybe before the gateway decides."""
        replica, call = one(self.under_way(), chosen)
        if is_told and not call.is_over:
            self.decide(call, is_sent)
        told: Answer = Unknown(reason=UnknownReason.TIMEOUT)
        if is_told:
            told = Taken(key_id=call.key_id) if call.sent_at else refusal
        self.stage.note(type(told).__name__)
        self.run(replica.finish(call, told))

    @rule(chosen=choices)
    @precondition(lambda self: self.busy())
    def crash(self, chosen: int) -> None:
        self.stage.note("crashed")
        self.run(one(self.busy(), chosen).die())

    @rule(
        replica=replicas, seconds=st.sampled_from([1.0, 12.0, 31.0, 65.0, 65.0, 400.0]), is_mute=rarely, renews=rarely
    )
    def time_passes(self, replica: int, seconds: float, is_mute: bool, renews: bool) -> None:
        """And one replica does what is due by then; a mute gateway sends, but tells nothing."""
        self.now.pass_(seconds)
        self.truth.time_passed()
        self.truth.is_mute = is_mute

        async def loops() -> None:
            working = self.replicas[replica]
            if renews:
                await working.rig.renew_leases()
            self.stage.note("lease lost", await working.rig.expire_leases())
            await working.rig.fail_expired()
            await working.rig.resolve()
            await working.rig.probe()

        self.run(loops())

    # What the number lets us know

    @rule(chosen=choices, is_lost=rarely, is_receipt=rarely, status=st.sampled_from(REPORTED))
    def the_number_tells(self, chosen: int, is_lost: bool, is_receipt: bool, status: Any) -> None:
        """An echo of what left, soon, late or never; a receipt; or what a hand wrote: the number is heard."""
        rig = self.stage.rigs[0]
        if is_receipt and self.named():
            key, key_id = one(self.named(), chosen)
            fact = receipt(self.books.promised[key].ref, status, at=self.now(), key_id=key_id)
            self.run(hear(rig, fact))
        elif self.echoes_due():
            call = one(self.echoes_due(), chosen)
            call.is_echo_due = False
            self.stage.note("echo lost" if is_lost else "echoed")
            if not is_lost:
                self.run(rig.echo(call.key_id, to=call.words[0], said=call.words[1]))
        else:
            self.run(rig.echo(f"P{self.now().timestamp()}-{len(self.truth.calls)}", said="by hand"))

    # What must hold

    @invariant()
    def books_balance(self) -> None:
        if not self.is_heard:
            self.run(self._listen())
            self.is_heard = True
        self.books.check(self.truth.calls)

    def teardown(self) -> None:
        self.run(self._come_to_rest())

    async def _come_to_rest(self) -> None:
        """Faults are over; those that still held something have died. Everything promised must end.

        Whatever may still be carried out is, at the worst moment: after another look for it.
        """
        for replica in self.replicas:
            await replica.die()
        self.truth.is_mute, self.truth.is_prompt = False, True
        await self.stage.rigs[0].resolve()
        for call in self.truth.undecided():
            self.truth.carry_out(call)
        for key, accepted in self.books.promised.items():
            if key not in self.books.finals:
                await self.replicas[0].take_in(accepted)
        for seconds, times in QUIET_STEPS:
            for _ in range(times):
                await self._listen()
                self.books.check(self.truth.calls)
                if not self.books.open():
                    self.stage.note("came to rest")
                    return
                await self._work_quietly(seconds)
        raise AssertionError(f"never ended: {self.books.open()}")

    async def _work_quietly(self, seconds: float) -> None:
        rig, replica = self.stage.rigs[0], self.replicas[0]
        self.now.pass_(seconds)
        self.truth.time_passed()
        await rig.observe("loja", ConnectionState.OPEN, at=self.now())
        for call in self.echoes_due():
            call.is_echo_due = False
            await rig.echo(call.key_id, to=call.words[0], said=call.words[1])
        await rig.expire_leases()
        await rig.resolve()
        await rig.fail_expired()
        await rig.promote()
        await replica.claim(10)
        while replica.claimed:
            await replica.begin()

    async def _listen(self) -> None:
        """What was said since, and which jobs are flagged now."""
        async with self.stage.rigs[0].database.transaction() as tx:
            said = (await tx.execute(text("SELECT id, type, body FROM dispatcher.outbox ORDER BY id"))).all()
            flagged = await tx.execute(text("SELECT message_id, round FROM dispatcher.jobs WHERE duplicate_possible"))
            self.books.flagged |= {(row.message_id, row.round) for row in flagged}
        new, self.heard = said[self.heard :], len(said)
        self.books.hear((decode(row.type, bytes(row.body)) for row in new), now=self.now())
        self.stage.note("flagged", len(self.books.flagged))
