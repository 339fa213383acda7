import json

import pytest

from arena.community.play.view import Played
from arena.store.people.answers import Enjoyed
from arena.store.people.unrated_match import MatchState
from arena.store.people.unrated_matches import KEPT_DAYS
from arena.store.people.values import DAY_SECONDS, Role
from tests.server.conftest import answered
from tests.server.operations.conftest import JSON
from tests.server.operations.test_playing import begun, matches, play_on  # noqa: F401 - a fixture

ACTIONS = [Played(number % 2, (number + 1, number + 1), 0.1 if number % 2 else None) for number in range(8)]
QUESTION = "Which did you enjoy more?"


def play(matches, address, plies=6, state=MatchState.OVER):  # noqa: F811
    matches.release_left()
    play_on(matches, address, state, ACTIONS[:plies])


async def varied(client, address, change="scoring=once"):
    response = await answered(client.post(f"{address}/again", data={"change": change}), 303)
    return response.headers["location"]


async def pair(client, matches, size="8"):  # noqa: F811
    """Play a match and a variation of it; return the address of the second."""
    first = await begun(client, option_size=size)
    play(matches, first)
    second = await varied(client, first)
    play(matches, second)
    return second


def votes(world):
    found = world.store.votes.found(game="differences")
    return [(json.loads(one.first_options), json.loads(one.second_options), one.choice) for one in found]


async def test_a_vote_is_asked_for_once_both_were_played_and_can_be_changed(world, matches):  # noqa: F811
    visitor = world.client()
    first = await begun(visitor, option_size="8")
    play(matches, first)
    page = await visitor.get(first, headers={"accept": JSON})
    assert page.json()["variations"] == ["scoring=once", "pie=1", "pie=2", "pie=3"]
    assert QUESTION not in (await visitor.get(first)).text
    second = await varied(visitor, first)
    play(matches, second, 2, MatchState.PERSON)
    page = (await visitor.get(second)).text
    assert "for each action; scoring = once in place of distinct</p>" in page
    assert QUESTION not in page
    play(matches, second)
    for choice, told in (("second", "this one"), ("alike", "both alike"), ("first", "the one before")):
        page = (await visitor.get(second)).text
        assert QUESTION in page
        assert f"Your vote counts: {told}" not in page
        answer = await visitor.post(f"{second}/vote", data={"choice": choice})
        assert (answer.status_code, answer.headers["location"]) == (303, second)
        assert f"Your vote counts: {told}" in (await visitor.get(second)).text
    options = {"size": 8, "scoring": "distinct", "pie": 0}
    assert votes(world) == [(options, options | {"scoring": "once"}, Enjoyed.FIRST)]


async def test_a_person_and_a_network_have_one_vote_for_two_variations(world, matches):  # noqa: F811
    world.add("eve", Role.AUTHOR)
    clients = [world.client(), world.client(), world.client(address="198.51.100.7"), world.browser("ann")]
    clients += [world.browser("ann"), world.browser("eve")]
    for client in clients:
        second = await pair(client, matches)
        back = await varied(client, second, "scoring=distinct")  # the same two, in the other order
        play(matches, back)
        for address in (second, back):
            assert (await client.post(f"{address}/vote", data={"choice": "second"})).status_code == 303
    assert len(votes(world)) == 4
    assert {second["scoring"] for _, second, _ in votes(world)} == {"distinct"}
    other = await pair(clients[0], matches, "7")
    assert (await clients[0].post(f"{other}/vote", data={"choice": "alike"})).status_code == 303
    assert len(votes(world)) == 5
    world.now.seconds += (KEPT_DAYS + 1) * DAY_SECONDS
    matches.prune()
    assert len(votes(world)) == 5
    assert "192.0.2.1" not in str(world.contents()["votes"])


@pytest.mark.parametrize(
    ("change", "plies", "sentence"),
    [
        ("", 6, "this match is no variation of another one"),
        ("scoring=once", 5, "once you and the bot have played 3 actions each, and it is over"),
        ("scoring=distinct", 6, "change 'scoring=distinct': expected 'scoring=once', 'pie=1', 'pie=2' or 'pie=3'"),
        ("size=9", 6, "change 'size=9': expected 'scoring=once'"),
        ("pie", 6, "change 'pie': expected 'scoring=once'"),
    ],
)
async def test_what_can_not_be_compared_is_refused_in_a_sentence(world, matches, change, plies, sentence):  # noqa: F811
    visitor = world.client(accept=JSON)
    address = (await visitor.post("/play", data={"game": "differences", "bot": "arena:greedy"})).json()["to"]
    play(matches, address)
    answer = await visitor.post(f"{address}/again", data={"change": change})
    if answer.status_code == 200:
        address = answer.json()["to"]
        play(matches, address, plies)
        answer = await visitor.post(f"{address}/vote", data={"choice": "alike"})
    assert answer.status_code == 400
    assert sentence in answer.json()["error"].replace("This match is", "this match is").replace("Change", "change")
    assert votes(world) == []


async def test_a_match_that_was_left_at_once_or_begun_near_its_end_has_no_variation(world, matches):  # noqa: F811
    visitor = world.client(accept=JSON)
    address = (await visitor.post("/play", data={"game": "differences", "bot": "arena:greedy"})).json()["to"]
    play_on(matches, address, MatchState.OVER, [one._replace(seconds=None) for one in ACTIONS])
    assert (await visitor.get(address)).json()["variations"] == []
    answer = await visitor.post(f"{address}/again", data={"change": "scoring=once"})
    assert (answer.status_code, "played 3 actions each" in answer.json()["error"]) == (400, True)
