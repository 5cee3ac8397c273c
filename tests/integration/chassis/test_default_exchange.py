"""What is for one queue alone goes out through the exchange without a name, and holds nothing else up."""

from chassis.testing.waiting import eventually

from .playground import Direct, Noted, Playground


async def test_it_takes_what_is_for_a_queue_alone(playground: Playground) -> None:
    key = playground.key()
    tap = await playground.tap(key)
    await playground.say(Direct(key=key, text="direct"), Direct(key=playground.key()), Noted(key=key, text="fact"))
    await playground.relay()
    heard = await tap.receives(2)
    assert {Noted.model_validate_json(message.body).text for message in heard} == {"direct", "fact"}

    async def only_the_homeless_is_left() -> bool:
        return [row.attempts for row in await playground.rows("SELECT attempts FROM playground.outbox")] == [1]

    await eventually(only_the_homeless_is_left, "one row held back")
