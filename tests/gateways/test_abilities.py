"""What a gateway is believed to be able to do: by its version, asked once, remembered for a while."""

import asyncio
from dataclasses import dataclass

import pytest
from tests.gateways.conftest import ScriptedGateway, answer, raw_then_reset

from gateways.evolution import EvolutionInspector
from gateways.evolution.abilities import KNOWN_SECONDS, UNKNOWN_SECONDS, abilities_of
from gateways.port import Abilities, Access

ABLE = Abilities(native_choices=True, reserved_ids=True)
UNABLE = Abilities()


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("version", "abilities"),
    [
        ("2.4.0", ABLE),
        ("2.4.0-rc2", ABLE),
        ("v2.10.1", ABLE),
        ("3.0.0", ABLE),
        ("2.3.7", UNABLE),
        ("2.3.10", UNABLE),
        ("1.8.2", UNABLE),
        ("2", UNABLE),
        ("homolog", UNABLE),
        ("", UNABLE),
        (None, UNABLE),
    ],
)
def test_what_a_version_can_do(version: str | None, abilities: Abilities) -> None:
    assert abilities_of(version) == abilities


async def test_the_front_page_is_asked_once_for_all_who_wait_and_then_remembered(gateway: ScriptedGateway) -> None:
    clock = Clock()
    gateway.script = [answer(200, {"status": 200, "version": "2.4.0"}), answer(200, {"version": "2.3.7"})]
    async with EvolutionInspector(monotonic=clock) as inspector:
        asked = [inspector.abilities(gateway.access(name)) for name in ("shop", "branch", "shop")]
        assert await asyncio.gather(*asked) == [ABLE] * 3
        assert [(seen.method, seen.target) for seen in gateway.seen] == [("GET", "/")]
        clock.now = KNOWN_SECONDS - 1
        assert await inspector.abilities(gateway.access()) == ABLE
        clock.now = KNOWN_SECONDS
        assert await inspector.abilities(gateway.access()) == UNABLE
    assert len(gateway.seen) == 2


async def test_below_a_base_path_the_front_page_is_there(gateway: ScriptedGateway) -> None:
    gateway.script = [answer(200, {"version": "2.4.0"})]
    access = Access(base_url=f"{gateway.base_url}/evo/?a=b", api_key="k", instance="shop")
    async with EvolutionInspector() as inspector:
        assert await inspector.abilities(access) == ABLE
    assert gateway.seen[0].target == "/evo"


@pytest.mark.parametrize(
    "behaviour",
    [
        answer(200, b"<html>"),
        answer(200, {"version": 24}),
        answer(404, {"version": "2.4.0"}),
        raw_then_reset(b""),
        answer(307, b"", headers={"location": "/elsewhere"}),
    ],
)
async def test_a_gateway_that_does_not_tell_can_nothing_and_is_asked_again_soon(
    gateway: ScriptedGateway, behaviour: object
) -> None:
    clock = Clock()
    gateway.script = [behaviour, answer(200, {"version": "2.4.0"})]  # type: ignore[list-item]
    async with EvolutionInspector(monotonic=clock) as inspector:
        assert await inspector.abilities(gateway.access()) == UNABLE
        assert await inspector.abilities(gateway.access()) == UNABLE
        assert len(gateway.seen) == 1
        clock.now = UNKNOWN_SECONDS
        assert await inspector.abilities(gateway.access()) == ABLE


@pytest.mark.parametrize("base_url", ["", "http://127.0.0.1:1", "ftp://x"])
async def test_an_address_that_leads_nowhere_can_nothing(base_url: str) -> None:
    async with EvolutionInspector() as inspector:
        assert await inspector.abilities(Access(base_url=base_url, api_key="k", instance="shop")) == UNABLE
