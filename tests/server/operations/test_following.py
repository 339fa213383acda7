import pytest

from arena.server.gate import followed_matches
from arena.server.gate.followed_matches import FollowedMatches
from arena.server.http.problems import ProblemError
from arena.store.people.unrated_match import PlayRequest
from tests.server.operations.conftest import Listener, stream_scope
from tests.server.operations.test_playing import begun, matches, play_on

__all__ = ["matches"]


CHANGED = b"event: changed\ndata: {}\n\n"


def listening(world, client, address):
    request = client.build_request("GET", f"{address}/events")
    headers = [(name.lower(), value) for name, value in request.headers.raw]
    return Listener(world.site, stream_scope(request.url.path, headers))


async def test_the_owner_hears_of_each_change_and_of_no_other_match(world, matches):
    visitor, ann = world.client(), world.browser("ann")
    address, other = await begun(visitor), await begun(ann)
    one = listening(world, visitor, address)
    assert (await one.heard.get(), one.status) == (CHANGED, 200)
    play_on(matches, other)
    claim = play_on(matches, address)
    assert await one.heard.get() == CHANGED
    matches.request(claim.number, PlayRequest.HINT, 0)
    assert await one.heard.get() == CHANGED
    claim.answer("it would play c4")
    assert await one.heard.get() == CHANGED
    assert one.heard.empty()
    await one.leave()


async def test_who_signs_out_hears_nothing_any_more(world, matches, monkeypatch):
    monkeypatch.setattr(followed_matches, "CHECK_SECONDS", 0.0)
    ann = world.browser("ann")
    one = listening(world, ann, await begun(ann))
    assert await one.heard.get() == CHANGED
    await ann.post("/sign-out")
    await one.task


async def test_streams_are_bounded_and_end_with_the_server(world, matches):
    visitor = world.client()
    number = matches.find((await begun(visitor)).removeprefix("/play/")).number
    followed = FollowedMatches(world.store)
    shown = matches.shown([number])[number]
    streams = [followed.follow(number, shown, lambda: True) for _ in range(followed_matches.MAX_OF_A_MATCH)]
    with pytest.raises(ProblemError):
        followed.follow(number, shown, lambda: True)
    listeners = [Listener(stream, {}) for stream in streams]
    await listeners[0].heard.get()
    await listeners[0].leave()
    listeners[0] = Listener(followed.follow(number, shown, lambda: True), {})  # there is room again
    await followed.close()
    for one in listeners:
        await one.task
    with pytest.raises(ProblemError):
        followed.follow(number, shown, lambda: True)


async def test_a_reader_that_takes_nothing_is_owed_one_event_at_most(world, matches):
    address = await begun(world.client())
    number = matches.find(address.removeprefix("/play/")).number
    followed = FollowedMatches(world.store)
    stream = followed.follow(number, matches.shown([number])[number], lambda: True)
    for _ in range(1000):
        stream.tell()
    one = Listener(stream, {})
    assert await one.heard.get() == CHANGED
    assert one.heard.empty()
    await followed.close()
    await one.task
