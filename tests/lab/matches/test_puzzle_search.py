from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from arena.games import make_game
from arena.lab.matches import puzzle_search
from arena.lab.matches.puzzle_search import decisions_by_position, find_puzzles
from arena.lab.oracle import ActionWorth
from arena.lab.solving.worth import Known, Outcome, Worth
from tests.lab.games import plain_value
from tests.lab.played import random_record

SHEET = ("plaid", {"width": 6, "height": 4, "lines": 4})
GRID = ("differences", {"size": 5, "scoring": "once"})
BOTH = pytest.mark.parametrize(("game", "count"), [(SHEET, 40), (GRID, 100)], ids=["plaid", "differences"])
one_game = cache(make_game)
"""Gives one object for each game, of which outcomes are found once."""

OUTCOMES = {1: Outcome.WIN, 0: Outcome.DRAW, -1: Outcome.LOSS}


class PlainOracle:
    """Knows outcomes by the plainest of all solvers, but of states before ``from_ply`` and ``hidden`` ones."""

    from_ply = 0
    hidden = frozenset()
    asked: list = []  # noqa: RUF012 - each test sets its own

    def __init__(self, game, *_, **__):
        self.game = game

    def worth(self, state):
        ply = len(state.vertical) + len(state.horizontal) if self.game.name == "plaid" else self.from_ply
        self.asked.append(ply)
        outcome = (
            OUTCOMES[plain_value(self.game, state)[0]] if ply >= self.from_ply and state not in self.hidden else None
        )
        return Worth(None, outcome, Known.SEARCH, None, None)

    def actions(self, state, *_):
        legal = self.game.legal_actions(state)
        return [ActionWorth(one, self.worth(self.game.apply(state, one))) for one in legal]


@pytest.fixture(autouse=True)
def oracle(monkeypatch):
    monkeypatch.setattr(puzzle_search, "Oracle", PlainOracle)
    monkeypatch.setattr(PlainOracle, "asked", [])


def records_of(game, count=30):
    name, options = game
    return [random_record(name, number, number, **options) for number in range(1, count + 1)]


def worths_of(decision):
    game, state = one_game(decision.game.name, **decision.game.options), decision.state
    sign = 1 if game.seat_to_act(state) == 0 else -1
    following = [game.apply(state, one) for one in game.legal_actions(state)]
    return {after: sign * plain_value(game, after)[0] for after in following}


def gave_away(decision):
    worths = worths_of(decision)
    return worths[decision.after] < max(worths.values())


def positions_of(records):
    """Return the decisions of each position that is a puzzle, by the match and the ply of the first miss."""
    found = {}
    for decisions in decisions_by_position(records).values():
        worths = list(worths_of(decisions[0]).values())
        missed = [one for one in decisions if gave_away(one)]
        if missed and worths.count(max(worths)) == 1 and len(worths) >= 3:
            found[missed[0].record.match, missed[0].ply] = decisions
    return found


@BOTH
def test_a_puzzle_says_how_often_it_was_met_and_missed_and_shows_the_first_miss(game, count):
    records = records_of(game, count)
    records += [replace(one, match=one.match + count) for one in records]
    expected = positions_of(records)
    found = find_puzzles(records, 500).puzzles
    assert len(found) == len(expected) > 0
    for puzzle in found:
        first = puzzle.misses[0]
        decisions = expected[first.match, first.ply]
        assert (puzzle.met, puzzle.missed) == (len(decisions), sum(map(gave_away, decisions)))
        assert puzzle.actions == records[first.match - 1].actions[: first.ply]
    assert any(puzzle.missed > 1 for puzzle in found)
    assert any(puzzle.met > puzzle.missed for puzzle in found)


@BOTH
def test_tempting_are_the_other_actions_that_put_the_seat_as_far_ahead_at_once(game, count):
    records = records_of(game, count)
    expected = positions_of(records)
    found = find_puzzles(records, 500).puzzles
    for puzzle in found:
        one = expected[puzzle.misses[0].match, puzzle.misses[0].ply][0]
        sign = 1 if puzzle.seat == 0 else -1
        scores = [one.game.scores(one.game.apply(one.state, action)) for action in one.game.legal_actions(one.state)]
        leads = [sign * (scores_of[0] - scores_of[1]) for scores_of in scores]
        others = [lead for number, lead in enumerate(leads) if number != puzzle.solution]
        if len(puzzle.misses) == 1:  # else the first decision may be of a board that was reflected
            assert puzzle.tempting == sum(lead >= leads[puzzle.solution] for lead in others)
    order = [(one.lines_log2, one.tempting, one.misses[0].match, one.misses[0].ply) for one in found]
    assert order == sorted(order)
    assert len({puzzle.tempting for puzzle in found}) > 1
    assert any(one[0] == other[0] and one[1] < other[1] for one, other in pairwise(order))


def test_of_two_actions_or_too_many_nobody_tries_all_and_so_many_misses_are_named(monkeypatch):
    records = records_of(SHEET)
    puzzle = find_puzzles(records, 1).puzzles[0]
    again = [replace(records[puzzle.misses[0].match - 1], match=number) for number in range(1, 26)]
    same = next(one for one in find_puzzles(again, 500).puzzles if one.actions == puzzle.actions)
    assert (same.missed, same.met, len(same.misses)) == (25, 25, 20)
    assert [miss.match for miss in same.misses] == list(range(1, 21))
    records = records_of(SHEET)
    numbers = {len(one.choices) for one in find_puzzles(records, 500).puzzles}
    assert min(numbers) >= 3
    monkeypatch.setattr(puzzle_search, "MAX_CHOICES", min(numbers))
    assert {len(one.choices) for one in find_puzzles(records, 500).puzzles} == {min(numbers)}
    signs = find_puzzles(records_of(("plusminus", {"size": 3}), 60), 500).puzzles
    assert all(len(one.choices) >= 3 for one in signs)  # of two signs one is often the only one that helps


@pytest.mark.parametrize("from_ply", [4, 5])
def test_what_is_before_a_position_that_is_not_known_is_not_known_and_not_asked_for(monkeypatch, from_ply):
    monkeypatch.setattr(PlainOracle, "from_ply", from_ply)
    records = records_of(SHEET)
    found, asked = find_puzzles(records, 500), list(PlainOracle.asked)
    places, too_early = [], set()
    for decisions in decisions_by_position(records).values():
        place = decisions[0].record.match, decisions[0].ply
        places.append(place)
        is_just_before = place[1] == from_ply - 1 and all(worths_of(one)[one.after] == 1 for one in decisions)
        if place[1] < from_ply and not is_just_before:  # who wins after it has given nothing away
            too_early.add(place)
    assert (found.looked_at, found.positions, found.unknown) == (len(places), len(places), len(too_early))
    assert len(too_early) < sum(ply < from_ply for _, ply in places)
    before = [place for place in places if place[1] == from_ply - 2]
    hopeless = [(match, ply) for match, ply in before if (match, ply + 1) in too_early]
    assert hopeless
    assert asked.count(from_ply - 2) <= 1 + len(before) - len(hopeless) + sum(ply == from_ply - 3 for _, ply in places)
    monkeypatch.setattr(PlainOracle, "from_ply", 0)
    known = {(one.misses[0].match, one.misses[0].ply) for one in find_puzzles(records, 500).puzzles}
    late = {place for place in known if place[1] >= from_ply}
    assert {(one.misses[0].match, one.misses[0].ply) for one in found.puzzles} == late
    assert late < known


def test_a_position_is_no_puzzle_if_it_is_not_known_what_one_of_its_actions_leads_to(monkeypatch):
    records = records_of(SHEET)
    puzzle = next(one for one in find_puzzles(records, 500).puzzles if one.met == 1)
    decision = positions_of(records)[puzzle.misses[0].match, puzzle.misses[0].ply][0]
    others = [state for state in worths_of(decision) if state != decision.after]
    worth = max(worths_of(decision).values())
    monkeypatch.setattr(PlainOracle, "hidden", {next(one for one in others if worths_of(decision)[one] < worth)})
    assert puzzle.actions not in [one.actions for one in find_puzzles(records, 500).puzzles]


def test_states_of_two_games_that_are_equal_are_not_taken_for_each_other():
    distinct, once = (records_of(("differences", {"size": 5, "scoring": name}), 60) for name in ("distinct", "once"))
    once = [replace(one, match=one.match + 60) for one in once]
    together = find_puzzles([*distinct, *once], 500).puzzles
    apart = [*find_puzzles(distinct, 500).puzzles, *find_puzzles(once, 500).puzzles]
    assert apart
    assert sorted(map(repr, together)) == sorted(map(repr, apart))
