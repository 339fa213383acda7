import asyncio

import pytest

from arena.server.http.builders import BUSY, FIRST_PER_LATER, FairQueue
from arena.server.http.problems import ProblemError


class Line:
    def __init__(self, queue):
        self.queue, self.built, self.tasks = queue, [], []
        self.go_on = asyncio.Semaphore(0)

    async def build(self, name, is_first):
        async with self.queue.turn(is_first):
            await self.go_on.acquire()
            self.built.append(name)

    async def ask(self, name, is_first=True):
        self.tasks.append(asyncio.create_task(self.build(name, is_first)))
        await asyncio.sleep(0)
        return self.tasks[-1]

    async def finish(self):
        for _ in self.tasks:
            self.go_on.release()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        return self.built


async def test_pages_nobody_has_seen_come_first_but_others_are_not_forgotten():
    line = Line(FairQueue(1))
    await line.ask("being built")
    for number in range(2):
        await line.ask(f"late {number}", is_first=False)
    for number in range(2 * FIRST_PER_LATER):
        await line.ask(f"new {number}")
    new = [f"new {number}" for number in range(2 * FIRST_PER_LATER)]
    assert await line.finish() == [
        "being built", *new[:FIRST_PER_LATER], "late 0", *new[FIRST_PER_LATER:], "late 1",
    ]  # fmt: skip


async def test_as_many_are_built_at_a_time_as_may_be():
    queue = FairQueue(2)
    line = Line(queue)
    await line.ask("a")
    assert not queue.is_busy
    await line.ask("b")
    assert queue.is_busy
    await line.ask("c")
    assert sorted(await line.finish()) == ["a", "b", "c"]
    assert not queue.is_busy


async def test_those_beyond_the_bound_are_refused_and_nobody_else():
    line = Line(FairQueue(1, max_waiting=2))
    for name in "abc":
        await line.ask(name)
    refused = await line.ask("d")
    with pytest.raises(ProblemError) as error:
        await refused
    assert error.value.problem is BUSY
    assert await line.finish() == ["a", "b", "c"]


async def test_those_who_leave_give_up_their_turn():
    queue = FairQueue(1)
    line = Line(queue)
    await line.ask("a")
    leaver, staying = await line.ask("b"), await line.ask("c")
    leaver.cancel()
    assert await line.finish() == ["a", "c"]
    assert staying.done()
    await line.ask("d")
    line.tasks[0].cancel()  # it is over
    assert await line.finish() == ["a", "c", "d"]


async def test_one_who_leaves_when_its_turn_has_come_passes_it_on():
    queue = FairQueue(1)
    line = Line(queue)
    first, second = await line.ask("a"), await line.ask("b")
    await line.ask("c")
    line.go_on.release()
    while not first.done():
        await asyncio.sleep(0)
    second.cancel()
    assert await line.finish() == ["a", "c"]
    assert not queue.is_busy
