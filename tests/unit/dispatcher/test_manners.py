"""What is remembered of gateways that do not honour a reserved id, and when a gateway is asked what it can do."""

from dataclasses import dataclass, field

import pytest

from contracts.parts import Buttons, ReplyButton
from contracts.sending import ChoiceStyle, SendingPolicy
from contracts.values import PacingPolicy
from dispatcher.usecases.manners import NOT_HONOURED_SECONDS, Manners
from gateways.port import Abilities, Access, Answer, NotSent, NotSentReason, Outbound, Taken

DOOR = Access(base_url="http://gateway", api_key="key", instance="loja")
NEXT_DOOR = Access(base_url="http://gateway", api_key="key", instance="filial")
NEW = Abilities(native_choices=True, reserved_ids=True)
BUTTONS = Buttons(buttons=(ReplyButton(label="Sim", id="1"),))


@dataclass
class Gateway:
    """Can everything; counts how often it is asked."""

    asked: int = 0

    async def abilities(self, access: Access) -> Abilities:
        self.asked += 1
        return NEW


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Rig:
    gateway: Gateway = field(default_factory=Gateway)
    clock: Clock = field(default_factory=Clock)

    def manners(self) -> Manners:
        return Manners(inspector=self.gateway, monotonic=self.clock)


def policy(**sending: object) -> PacingPolicy:
    return PacingPolicy(sending=SendingPolicy.model_validate(sending))


def outbound(access: Access = DOOR) -> Outbound:
    return Outbound(access=access, recipient="5547991234567", text="x", reserved_id="3EB0A")


@pytest.mark.parametrize(
    ("wanted", "part", "asked"),
    [
        (policy(), None, 1),
        (policy(), BUTTONS, 1),
        (policy(reserve_ids=False), None, 0),
        (policy(reserve_ids=False), BUTTONS, 1),
        (policy(reserve_ids=False, choices=ChoiceStyle.PLAIN), BUTTONS, 0),
        (policy(reserve_ids=True, choices=ChoiceStyle.NATIVE), BUTTONS, 0),
    ],
)
async def test_a_gateway_is_asked_only_if_its_answer_decides(
    wanted: PacingPolicy, part: Buttons | None, asked: int
) -> None:
    rig = Rig()
    await rig.manners().abilities(DOOR, wanted, part)
    assert rig.gateway.asked == asked


async def test_nothing_is_known_without_anybody_to_ask() -> None:
    assert await Manners().abilities(DOOR, policy(), BUTTONS) == Abilities()


async def test_a_number_that_ignored_a_reserved_id_is_not_offered_one_for_a_while() -> None:
    rig = Rig()
    manners = rig.manners()
    assert await manners.reserves(DOOR, policy())
    manners.learn(DOOR, Taken(key_id="3EB0B", id_honoured=False))
    assert manners.adapted(outbound()).reserved_id is None
    assert not await manners.reserves(DOOR, policy(reserve_ids=True))
    assert manners.adapted(outbound(NEXT_DOOR)).reserved_id == "3EB0A", "each number answers for itself"
    rig.clock.now = NOT_HONOURED_SECONDS
    assert manners.adapted(outbound()).reserved_id == "3EB0A"
    assert await manners.reserves(DOOR, policy())


@pytest.mark.parametrize(
    "answer", [Taken(key_id="K"), Taken(key_id="3EB0A", id_honoured=True), NotSent(reason=NotSentReason.UNREACHABLE)]
)
def test_only_an_id_that_was_offered_and_ignored_is_held_against_a_number(answer: Answer) -> None:
    manners = Rig().manners()
    manners.learn(DOOR, answer)
    assert manners.adapted(outbound()).reserved_id == "3EB0A"


async def test_honouring_one_again_is_forgiven_at_once() -> None:
    manners = Rig().manners()
    manners.learn(DOOR, Taken(key_id="3EB0B", id_honoured=False))
    manners.learn(DOOR, Taken(key_id="3EB0A", id_honoured=True))
    assert await manners.reserves(DOOR, policy())


async def test_a_number_without_reserved_ids_is_not_searched_by_them() -> None:
    assert not await Rig().manners().reserves(DOOR, policy(reserve_ids=False))
    assert not await Manners().reserves(DOOR, policy())
    assert await Manners().reserves(DOOR, policy(reserve_ids=True))
