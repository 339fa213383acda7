import asyncio
import contextlib
import io
import json
import os
import signal
import sys
import textwrap
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.definition import GameChoice
from arena.base.live_match import LiveMatch
from arena.server.http.builder_messages import MAX_FRAME_BYTES, FrameError, framed, read_frame, receive_frame
from arena.server.http.builders import BUSY, CRASHED, FIRST_PER_LATER, LAST_TURNS, Builders, FairQueue, LaneLimits
from arena.server.http.problems import ProblemError
from arena.site.frame.model import Lane
from arena.site.matches.match_model import MatchParameters
from arena.site.page_table import PAGE_BY_NAME
from arena.store.home import ArenaHome
from tests.store.results.samples import definition, line, record

MATCH = PAGE_BY_NAME["match"]
AT = "2026-01-01T00:00:00.000+00:00"
LIMITS = LaneLimits(processes=1, seconds=60.0, memory_bytes=2 * 1024**3)
INVALID = ("Hanging", "Exiting", "Orphaning", "Hoarding", "Printing", "HangingPicture", "RaisingPicture")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("home")
    with ArenaHome(directory) as home:
        for name in INVALID:
            game = f"tests.server.http.failing_rules:{name}"
            games = (GameChoice(game=game, options={"goal": 2}, players=2),)
            tournament = home.store.create_tournament(definition(name=name, games=games), [line(1)])
            played = {"actions": [[0, 2]], "scores": [1, 0], "wall_seconds": [0.1], "cpu_seconds": [None]}
            home.store.record(tournament, [record(1, tournament=name, game=game, options={"goal": 2}, **played)])
        home.store.record(home.store.create_tournament(definition(), [line(1)]), [record(1)])
    return directory


@pytest.fixture
async def builders(directory):
    builders = Builders(Lane.BOARDS, str(directory), None, LIMITS)
    yield builders
    processes = builders.processes
    await builders.close()
    assert not any(map(is_running, processes))


def is_running(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    return False


async def build(builders, tournament="t"):
    return (await builders.build(MATCH, MatchParameters(tournament=tournament, match=1))).json


async def refusal(builders, tournament):
    with pytest.raises(ProblemError) as error:
        await build(builders, tournament)
    return error.value.problem


@pytest.mark.slow
async def test_one_process_builds_several_pages_and_is_replaced_when_it_was_killed(builders):
    first = await build(builders)
    assert b'"tournament":"t"' in first
    [process] = builders.processes
    assert await build(builders) == first
    assert builders.processes == (process,)
    problem = await refusal(builders, "Printin")
    assert (problem.status, problem.error) == (404, "unknown tournament 'Printin': did you mean 'Printing'?")
    assert problem.suggested == ("/tournaments/Printing",)
    os.kill(process, signal.SIGKILL)
    assert await build(builders) == first
    assert builders.processes != (process,)


@pytest.fixture
def open_match(directory):
    with ArenaHome(directory) as home, contextlib.ExitStack() as stack:

        def open_match(rules):
            name = f"{rules}-live"
            games = (GameChoice(game=f"tests.server.http.failing_rules:{rules}", options={"goal": 2}, players=2),)
            tournament = home.store.create_tournament(definition(name=name, games=games), [line(1)])
            stack.enter_context(home.store.lock(name))
            live = LiveMatch(
                match=1, started_at=AT, actions=([0, 1],), wall_seconds=(0.1,), cpu_seconds=(None,), seat=1, since=AT,
                bank_seconds=(None, None),
            )  # fmt: skip
            home.store.live_state(tournament).show([live])
            return name

        yield open_match


@pytest.mark.slow
async def test_rules_that_never_return_are_given_up_also_while_their_match_is_watched(builders, open_match):
    for name in ("Hanging", open_match("HangingPicture")):
        builders.limits = replace(LIMITS, seconds=5.0)  # a busy machine takes its time for others
        problem = await refusal(builders, name)
        assert (problem.status, problem.error) == (503, "It took longer than 5 s to build this page, and was given up.")
        assert builders.processes == ()
        builders.limits = LIMITS
    assert await build(builders)


@pytest.mark.slow
async def test_a_match_whose_board_cannot_be_drawn_says_so_while_it_is_watched_and_later(builders, open_match):
    for name in (open_match("RaisingPicture"), "RaisingPicture"):
        shown = json.loads(await build(builders, name))["shown"]
        [last] = shown["positions"]
        assert last["ply"] == shown["plies"] == 1
        assert "RaisingPicture' is at fault: drawing raised ZeroDivisionError" in str(shown["board"])
        assert "RaisingPicture' is at fault: render_after raised KeyError" in last["board"]


@pytest.mark.slow
async def test_rules_that_end_the_process_or_take_its_memory_are_survived(builders):
    assert await refusal(builders, "Exiting") == CRASHED
    for name in ("Orphaning", "Hoarding"):
        with contextlib.suppress(ProblemError):
            await build(builders, name)
        assert await build(builders)


@pytest.mark.slow(sample=True)
async def test_what_rules_print_and_read_is_not_ours(builders):
    assert b'"tournament":"Printing"' in await build(builders, "Printing")


@pytest.mark.slow
async def test_a_builder_that_was_prepared_builds_the_next_page_and_ends_when_it_is_idle(builders, monkeypatch):
    builders.prepare()
    builders.prepare()
    await builders._preparing
    [process] = builders.processes
    await builders.build(MATCH, MatchParameters(tournament="t", match=1))
    builders.prepare()
    assert builders.processes == (process,)
    assert builders._preparing is None
    monkeypatch.setattr("arena.server.http.builders.IDLE_SECONDS", 0.05)
    await build(builders)
    while builders.processes:
        await asyncio.sleep(0.01)
    assert await build(builders)


@pytest.mark.slow
async def test_one_that_is_apart_asks_no_server_for_what_is_in_a_file(directory, tmp_path, monkeypatch):
    """The pages of embargoed homes, whatever variables and credentials say of the public one."""
    (tmp_path / "arena.store-url").write_text("postgresql://127.0.0.1:1/nowhere")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    builders = Builders(Lane.BOARDS, str(directory), None, LIMITS, is_apart=True)
    try:
        assert await build(builders)
    finally:
        await builders.close()


@pytest.mark.slow
async def test_a_builder_ends_with_the_web_process(directory):
    program = textwrap.dedent(f"""
        import asyncio
        from arena.site.frame.model import Lane
        from tests.server.http.test_builders import LIMITS, Builders, build

        async def main():
            builders = Builders(Lane.BOARDS, {str(directory)!r}, None, LIMITS)
            task = asyncio.create_task(build(builders, "Hanging"))
            while not builders.processes:
                await asyncio.sleep(0.01)
            print(*builders.processes, flush=True)
            await asyncio.sleep(3600)

        asyncio.run(main())
    """)
    web = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    try:
        pid = int(await web.stdout.readline())
        assert is_running(pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            web.kill()
        await web.wait()
    deadline = time.monotonic() + 60
    while is_running(pid):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def received(data):
    async def receive():
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await receive_frame(reader)

    return asyncio.run(receive())


@given(st.binary(max_size=100))
def test_what_is_sent_arrives_at_both_ends(payload):
    assert received(framed(payload)) == read_frame(io.BytesIO(framed(payload))) == payload
    assert read_frame(io.BytesIO(b"")) is None  # the end, between frames


@pytest.mark.parametrize("data", [b"\0", b"\0\0\0\5abc", (MAX_FRAME_BYTES + 1).to_bytes(4, "big") + b"abc"])
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(data))
    with pytest.raises(FrameError):
        received(data)


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


async def test_it_is_known_how_long_those_wait_who_come_first():
    now = 0.0
    queue = FairQueue(2, now=lambda: now)
    async with queue.turn(is_first=True):
        now += 0.5 * LAST_TURNS
        assert queue.expected_seconds == 0.0
    line = Line(queue)
    for name in "abcd":
        assert queue.expected_seconds == {"c": 0.25, "d": 0.5}.get(name, 0.0)
        await line.ask(name)
    await line.ask("late", is_first=False)
    assert queue.expected_seconds == 0.75
    await line.finish()
    assert queue.expected_seconds == 0.0


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
    line = Line(FairQueue(1))
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
