"""Group commit: many callers share a commit, and each learns about its own item alone."""

import asyncio
from collections.abc import Sequence

import pytest

from chassis.database import Transaction, UnavailableError
from chassis.group_commit import GroupCommit
from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire

from .playground import Playground, settle, write_notes


class Recorder:
    """Writes notes, remembers batches, and can hold every write until told to go on."""

    def __init__(self, *, held: bool = False) -> None:
        self.batches: list[list[str]] = []
        self.at_once = self.most_at_once = 0
        self.go = asyncio.Event()
        if not held:
            self.go.set()

    async def write(self, tx: Transaction, texts: Sequence[str]) -> Sequence[None]:
        self.batches.append(list(texts))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.go.wait()
            return await write_notes(tx, texts)
        finally:
            self.at_once -= 1


def submit(commits: GroupCommit[str, None], *texts: str) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(commits.submit(note)) for note in texts]


async def test_a_caller_resumes_only_after_the_commit_of_its_own_item(playground: Playground) -> None:
    recorder = Recorder(held=True)
    commits = GroupCommit(playground.database, recorder.write, size_max=7)

    async def submit_and_look(note: str) -> bool:
        await commits.submit(note)
        return note in await playground.notes()

    callers = [asyncio.create_task(submit_and_look(f"note-{number}")) for number in range(30)]
    await eventually(lambda: len(recorder.batches) == 2, "two commits under way")
    assert not any(caller.done() for caller in callers)
    assert await playground.notes() == []
    recorder.go.set()
    assert await settle(callers) == [True] * 30


async def test_a_commit_is_bounded_in_size_and_their_number_too(playground: Playground) -> None:
    recorder = Recorder(held=True)
    commits = GroupCommit(playground.database, recorder.write, size_max=10, commits_max=3)
    callers = submit(commits, *(f"{number}" for number in range(95)))
    await eventually(lambda: recorder.at_once == 3, "three commits at once")
    recorder.go.set()
    assert await settle(callers) == [None] * 95
    assert recorder.most_at_once == 3
    assert max(map(len, recorder.batches)) == 10
    assert sorted(note for batch in recorder.batches for note in batch) == sorted(await playground.notes())


async def test_callers_within_the_linger_share_a_commit_and_a_lonely_one_is_not_kept(playground: Playground) -> None:
    recorder = Recorder()
    commits = GroupCommit(playground.database, recorder.write, linger_ms=5)
    await settle(submit(commits, "one", "two", "three"))
    assert recorder.batches == [["one", "two", "three"]]
    await asyncio.wait_for(commits.submit("four"), timeout=10)
    assert recorder.batches[1:] == [["four"]]


async def test_after_a_commit_with_company_the_next_one_waits_for_more_unless_it_is_full(
    playground: Playground,
) -> None:
    recorder = Recorder()
    commits = GroupCommit(playground.database, recorder.write, size_max=5, linger_ms=0, spacing_ms=600_000)
    await settle(submit(commits, "1", "2", "3", "4"))
    waiting = submit(commits, "5", "6", "7")
    assert await playground.notes() == ["1", "2", "3", "4"]
    assert [len(batch) for batch in recorder.batches] == [4]
    await settle([*waiting, *submit(commits, "8", "9")])
    assert [len(batch) for batch in recorder.batches] == [4, 5]


async def test_after_a_small_commit_nobody_is_kept(playground: Playground) -> None:
    recorder = Recorder()
    commits = GroupCommit(playground.database, recorder.write, linger_ms=0, spacing_ms=600_000)
    for note in ("one", "two"):
        await asyncio.wait_for(commits.submit(note), timeout=30)
    assert recorder.batches == [["one"], ["two"]]


async def test_items_keep_their_order_and_results_find_their_callers(playground: Playground) -> None:
    async def number_them(tx: Transaction, texts: Sequence[str]) -> Sequence[str]:
        await write_notes(tx, texts)
        return [f"stored {note}" for note in texts]

    commits = GroupCommit(playground.database, number_them, size_max=8, commits_max=1)
    texts = [f"{number:03}" for number in range(50)]
    tasks = [asyncio.create_task(commits.submit(note)) for note in texts]
    assert await settle(tasks) == [f"stored {note}" for note in texts]
    assert await playground.notes() == texts


async def test_a_poisoned_item_fails_alone(playground: Playground) -> None:
    commits = GroupCommit(playground.database, write_notes)
    results = await settle(submit(commits, "good", "bad\x00", "fine"))
    assert results[0] is None
    assert results[2] is None
    assert isinstance(results[1], Exception)
    assert not isinstance(results[1], UnavailableError)
    assert sorted(await playground.notes()) == ["fine", "good"]


async def test_a_result_that_is_an_exception_reaches_its_caller_alone_and_undoes_nothing(
    playground: Playground,
) -> None:
    async def refuse_short_ones(tx: Transaction, texts: Sequence[str]) -> Sequence[Exception | None]:
        await write_notes(tx, [note for note in texts if len(note) > 3])
        return [None if len(note) > 3 else ValueError("too short") for note in texts]

    commits: GroupCommit[str, None] = GroupCommit(playground.database, refuse_short_ones)
    results = await settle(submit(commits, "long enough", "no", "also long"))
    assert [type(result) for result in results] == [type(None), ValueError, type(None)]
    assert await playground.notes() == ["long enough", "also long"]


async def test_a_database_that_is_away_fails_everyone_and_the_next_commit_works(playground: Playground) -> None:
    async with Wire(playground.url, default_port=5432) as wire:
        database = playground.another_database(url=wire.url)
        commits = GroupCommit(database, write_notes)
        await commits.submit("before")
        wire.cut()
        results = await settle(submit(commits, *(f"{number}" for number in range(20))))
        assert {type(result) for result in results} == {UnavailableError}
        wire.mend()

        async def works_again() -> bool:
            try:
                await commits.submit("after")
            except UnavailableError:
                return False
            return True

        await eventually(works_again, "a commit after the outage")
        assert await playground.notes() == ["before", "after"]
        await database.stop()


async def test_a_caller_that_gave_up_is_left_out_and_disturbs_nobody(playground: Playground) -> None:
    recorder = Recorder()
    commits = GroupCommit(playground.database, recorder.write, linger_ms=50)
    staying, leaving = submit(commits, "staying", "leaving")
    await asyncio.sleep(0)
    leaving.cancel()
    assert [type(result) for result in await settle([staying, leaving])] == [type(None), asyncio.CancelledError]
    assert await playground.notes() == ["staying"]


async def test_a_caller_that_gives_up_during_its_commit_does_not_break_it(playground: Playground) -> None:
    recorder = Recorder(held=True)
    commits = GroupCommit(playground.database, recorder.write)
    staying, leaving = submit(commits, "staying", "leaving")
    await eventually(lambda: bool(recorder.batches), "a commit under way")
    leaving.cancel()
    recorder.go.set()
    assert [type(result) for result in await settle([staying, leaving])] == [type(None), asyncio.CancelledError]
    assert await playground.notes() == ["staying", "leaving"]


async def test_too_many_waiting_callers_are_turned_away(playground: Playground) -> None:
    recorder = Recorder(held=True)
    commits = GroupCommit(playground.database, recorder.write, size_max=1, commits_max=1, waiting_max=3)
    callers = submit(commits, "committing")
    await eventually(lambda: bool(recorder.batches), "a commit under way")
    callers += submit(commits, "1", "2", "3")
    await asyncio.sleep(0)
    with pytest.raises(UnavailableError):
        await commits.submit("one too many")
    recorder.go.set()
    assert await settle(callers) == [None] * 4


async def test_stop_commits_what_still_waits(playground: Playground) -> None:
    recorder = Recorder(held=True)
    commits = GroupCommit(playground.database, recorder.write, size_max=2, commits_max=1, linger_ms=10_000)
    callers = submit(commits, "1", "2", "3", "4", "5")
    await eventually(lambda: bool(recorder.batches), "a commit under way")
    stopping = asyncio.create_task(commits.stop())
    recorder.go.set()
    await settle([stopping])
    assert await settle(callers) == [None] * 5
    assert await playground.notes() == ["1", "2", "3", "4", "5"]
