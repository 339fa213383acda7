import itertools
from dataclasses import replace

import pytest

from arena.lab.matches.puzzle import keep_puzzles
from arena.server.operations.puzzles import _ratings
from arena.store.home import ArenaHome
from arena.store.people import answers
from arena.store.people.answers import PuzzleTry
from tests.lab.made_puzzles import longer_puzzle, made_puzzle
from tests.server.conftest import add_tournament
from tests.server.operations.conftest import JSON

FIRST, SECOND = (f"/tournaments/t/puzzles/{number}/answer" for number in (1, 2))


@pytest.fixture(autouse=True)
def puzzles(directory):
    """Two of other positions, of which the second has a line; b2 alone is right in both."""
    with ArenaHome(directory) as home:
        kept = [made_puzzle(), longer_puzzle(actions=([0, [5, 5]],))]
        keep_puzzles(home.directory, home.store.tournament("t"), kept)
        yield home


async def shown(client, address=FIRST):
    return (await client.get(address, headers={"accept": JSON})).json()


async def test_the_first_answer_counts_and_no_other(world, puzzles):
    ann, olga = world.browser("ann"), world.browser("olga")
    before = await shown(ann)
    assert (before["is_solved"], before["rating"], len(before["actions"])) == (None, None, 16)
    answer = await ann.post(FIRST, data={"action": " c3 "})
    assert (answer.status_code, answer.headers["location"]) == (303, FIRST)
    page = await ann.get(FIRST)
    assert "You did not solve it." in page.text
    assert "Answer</button>" not in page.text
    low = await shown(ann)
    again = await ann.post(FIRST, data={"action": "b2"}, headers={"accept": JSON})
    assert (again.status_code, again.json()["error"]) == (
        400, "You have answered this puzzle before, and only the first answer counts.",
    )  # fmt: skip
    kept = puzzles.store.tournament("t")
    keep_puzzles(puzzles.directory, kept, [longer_puzzle(actions=([0, [5, 5]],)), replace(made_puzzle(), missed=2)])
    assert (await shown(ann, SECOND)) == low | {"puzzle": 2}  # made again, in another order
    assert (await ann.post(FIRST, data={"action": "b2"})).status_code == 303  # of a line, its first action decides
    high = await shown(ann)
    assert high["is_solved"] is True
    assert "You solved it." in (await ann.get(FIRST)).text
    assert low["rating"]["mu"] < 25 < low["puzzle_rating"]["mu"]
    assert low["rating"]["mu"] < high["rating"]["mu"]
    assert high["rating"]["margin_95"] < low["rating"]["margin_95"] < 1.96 * 25 / 3
    assert (await ann.get("/account", headers={"accept": JSON})).json()["puzzle_rating"] == high["rating"]
    other = await shown(olga)
    assert (other["is_solved"], other["rating"], other["puzzle_rating"]) == (None, None, None)


async def test_an_answer_leads_back_also_to_a_tournament_whose_name_has_other_letters(world, puzzles):
    add_tournament(puzzles, "Lehrgang β")
    keep_puzzles(puzzles.directory, puzzles.store.tournament("Lehrgang β"), [made_puzzle()])
    address = "/tournaments/Lehrgang%20%CE%B2/puzzles/1/answer"
    answer = await world.browser("ann").post(address, data={"action": "c3"})
    assert (answer.status_code, answer.headers["location"]) == (303, address)


@pytest.mark.parametrize(
    ("address", "action", "status", "sentence"),
    [
        (FIRST, "a1", 400, "Action 'a1' is not legal in this puzzle; expected one like b2."),
        (FIRST, "b2 d4", 400, "Action 'b2 d4' is not legal in this puzzle"),
        ("/tournaments/t/puzzles/3/answer", "b2", 404, "nknown puzzle '3': expected"),
        ("/tournaments/nothing/puzzles/1/answer", "b2", 404, "nknown tournament 'nothing'"),
    ],
)
async def test_what_is_no_answer_is_refused_in_a_sentence(world, address, action, status, sentence):
    answer = await world.browser("ann").post(address, data={"action": action}, headers={"accept": JSON})
    assert answer.status_code == status
    assert sentence in answer.json()["error"]
    assert world.contents()["puzzle_tries"] == []


def test_ratings_are_the_same_in_any_order_and_a_harder_puzzle_counts_more():
    def tried(person, puzzle, is_solved):
        return PuzzleTry(person_id=person, puzzle=puzzle, is_solved=is_solved, at="")

    tries = [tried(1, "easy", True), tried(2, "easy", True), tried(2, "hard", False), tried(3, "hard", True)]
    (found, *others) = [_ratings(order) for order in itertools.permutations(tries)]
    assert all(other == found for other in others)
    assert found["hard"].mu > found["easy"].mu
    assert found["3"].mu > found["1"].mu


async def test_of_too_many_the_oldest_go(world, monkeypatch):
    monkeypatch.setattr(answers, "MAX_TRIES", 2)
    person, tries = world.store.accounts.get("ann").number, world.store.puzzle_tries
    assert [tries.add(person, key, is_solved=True) for key in "aabc"] == [True, False, True, True]
    assert [one.puzzle for one in tries.found()] == ["c", "b"]
