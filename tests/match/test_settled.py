import random
import re
from dataclasses import replace
from functools import cache

import pytest

from arena.analysis.measures.verification import verify
from arena.base.errors import BotError, DefinitionError, UsageError
from arena.base.records import DEFAULT_PLY_LIMIT, MAX_PLY_LIMIT
from arena.games import make_game
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.match.replay import ReplayError, check_record, settled_ranks
from arena.match.single_match import play_match
from arena.protocol.messages import Wants
from arena.store.results.rows import row_of
from arena.store.results.statements import record_from
from arena.tournament.definition import make_definition
from arena.tournament.director import run_tournament
from tests.conftest import BOTS
from tests.games.variants import PIES
from tests.matches import paper_bots, small_match

SMALL = [
    ("differences", {"size": 4}),
    ("differences", {"size": 4, "scoring": "once"}),
    ("plusminus", {"size": 3}),
    ("plaid", {"width": 4, "height": 4, "lines": 4}),
    ("coprimality", {"size": 3, "max_grids": 2}),
    ("coprimality", {"size": 3, "players": 3, "max_grids": 1}),
]


def all_ends(game, plies_limit):
    """Return a function to the set of ranks that can still come of a state: brute force, without any bound."""

    @cache
    def ends(state, left):
        if not left or game.is_over(state):
            return frozenset({tuple(game.ranks(state))})
        return frozenset().union(*(ends(game.apply(state, a), left - 1) for a in game.legal_actions(state)))

    return ends


@pytest.mark.parametrize(("name", "options"), SMALL, ids=lambda value: str(value))
@pytest.mark.parametrize("limit", [1000, 5])
def test_what_is_called_settled_is_by_brute_force_and_the_last_ply_always_is(name, options, limit):
    game = make_game(name, **options)
    ends = all_ends(game, limit)
    generator = random.Random(7)
    for _ in range(12):
        state, left = game.initial_state(), limit
        while left and not game.is_over(state):
            found = settled_ranks(game, state, left)
            assert found is None or ends(state, left) == {found}
            if len(game.legal_actions(state)) == 1 and left == 1:
                assert found is not None
            state, left = game.apply(state, generator.choice(game.legal_actions(state))), left - 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *SMALL[:3],
        *(one for one in PIES.values() if one[0] not in ("plaid", "coprimality")),
        ("multiplication", {"second_starts": 1}),
        ("multiplication", {"size": 10, "players": 3}),
    ],
)
def test_scores_stay_within_the_bounds_of_the_rules(name, options):
    game = make_game(name, **options)
    generator = random.Random(3)
    for _ in range(30):
        states = [game.initial_state()]
        while not game.is_over(states[-1]):
            states.append(game.apply(states[-1], generator.choice(game.legal_actions(states[-1]))))
        final = game.scores(states[-1])
        for state in states:
            bounds = game.score_bounds(state)
            assert all(low <= score <= high for (low, high), score in zip(bounds, final, strict=True))
        assert [low for low, _ in game.score_bounds(states[-1])] == list(final)


def play(**changes):
    players = [ScriptedPlayer(lambda request: request.legal[-1]) for _ in range(2)]
    return Referee(small_match(*paper_bots(), **{"options": {"size": 5}} | changes), players).play()


def test_a_settled_match_ends_with_the_ranks_of_the_whole_one():
    whole, settled = play(), play(ends_settled=True)
    plies = len(settled.actions)
    assert plies < len(whole.actions)
    assert settled.actions == whole.actions[:plies]
    assert (settled.ranks, settled.termination, settled.settled_ply) == (whole.ranks, "adjudication", plies)
    check_record(settled)
    check_record(again := record_from(1, row_of(settled).record))
    assert again.settled_ply == plies
    assert "settled_ply" not in row_of(whole).record


SETTLED, LIMITED = {"ends_settled": True}, {"game": "tests.mistaken_games:Endless", "options": {}, "ply_limit": 5}


@pytest.mark.parametrize(
    ("of_match", "change", "sentence"),
    [
        (SETTLED, {"settled_ply": None}, "the record ends before the match is over"),
        (SETTLED, {"ranks": (2, 2)}, "ranks are recorded as"),
        (SETTLED, {"termination": "normal"}, "termination are recorded as normal"),
        (LIMITED, {"ply_limit": 6}, "the record ends before the match is over, without a forfeit"),
        (LIMITED, {"ply_limit": 4}, "the record has 5 actions, but its limit is 4 plies"),
        (LIMITED, {"ply_limit": None}, "the record ends before the match is over, without a forfeit"),
        (LIMITED, {"termination": "normal"}, "are recorded as normal, but by the rules they are adjudication"),
        (LIMITED, {"ranks": (1, 2)}, "ranks are recorded as"),
    ],
)
def test_a_record_that_contradicts_the_rules_is_found(of_match, change, sentence):
    with pytest.raises(ReplayError, match=sentence):
        check_record(replace(play(**of_match), **change))


def test_a_match_that_ended_too_early_is_found():
    record = play()
    early = replace(
        record, actions=record.actions[:1], wall_seconds=(0.1,), cpu_seconds=(0.1,), settled_ply=1, scores=(0, 0)
    )
    with pytest.raises(ReplayError, match="recorded as settled after 1 plies, but by the rules that is not shown"):
        check_record(replace(early, ranks=(1, 1), termination="adjudication"))


@pytest.mark.slow(sample=True)
def test_a_tournament_of_settled_matches_holds(home):
    entrants = [BOTS / "minimal", BOTS / "random_legal"]
    fixed = {"options": {"size": 5}, "encounters": 3}
    for name, more in (("whole", {}), ("short", {"adjudicate": "settled"})):
        run_tournament(
            make_definition(name, "differences", entrants, **fixed, **more), home.store, executor="in-process"
        )
    assert verify(home, "short") == (6, [])
    whole, short = (list(home.store.records(name)) for name in ("whole", "short"))
    definition = home.store.tournament("short").definition
    assert definition.identity() != home.store.tournament("whole").definition.identity()
    assert {record.settled_ply for record in whole} == {None}
    assert all(record.settled_ply == len(record.actions) for record in short)
    assert [record.ranks for record in short] == [record.ranks for record in whole]
    with pytest.raises(DefinitionError, match="adjudicate = 'soon': expected 'settled'"):
        make_definition("x", "differences", entrants, adjudicate="soon")


# matches that end at their limit of plies


def spec(game="tests.mistaken_games:Endless", options=None, players=2, **values):
    return small_match(*paper_bots(players), game=game, options=options or {}, **values)


def play_spec(spec, *players):
    seated = players or [ScriptedPlayer(lambda request: request.legal[0]) for _ in spec.bots]
    return Referee(spec, seated).play()


def test_a_match_without_end_ends_at_the_limit():
    record = play_spec(spec(ply_limit=5))
    assert (len(record.actions), record.ply_limit) == (5, 5)
    assert (record.termination, record.scores, record.ranks, record.faults) == ("adjudication", (0, 0), (1, 1), ())
    check_record(record)


def test_the_scores_as_they_stand_decide():
    """After a1, b3 and d5 the columns a and b are neighbours, 2 apart; no two of the rows 1, 3 and 5 are."""
    marks = ScriptedPlayer([(1, 1), (4, 5)]), ScriptedPlayer([(2, 3)])
    record = play_spec(spec("differences", {"size": 5}, ply_limit=3), *marks)
    assert (record.termination, record.scores, record.ranks) == ("adjudication", (1, 0), (1, 2))
    check_record(record)


def test_a_match_that_is_over_with_the_last_ply_ends_by_its_rules():
    record = play_spec(spec("differences", {"size": 2}, ply_limit=2))
    assert (len(record.actions), record.termination) == (2, "normal")
    check_record(record)


def test_the_opening_counts():
    record = play_spec(spec(ply_limit=3, opening=0, opening_actions=(1, 1)))
    assert [seat for seat, _ in record.actions] == [0, 1, 0]
    assert record.wall_seconds[:2] == (None, None)


def test_a_match_that_goes_on_after_a_forfeit_ends_at_the_limit_too():
    players = [ScriptedPlayer([BotError("exit", "exit status 1")])]
    players += [ScriptedPlayer(lambda request: request.legal[0], Wants()) for _ in range(3)]
    record = play_spec(spec("coprimality", {"size": 6, "players": 4}, players=4, ply_limit=4), *players)
    assert (len(record.actions), record.termination) == (4, "forfeit")
    assert record.ranks[0] == 4
    check_record(record)


def test_bots_hear_of_the_limit_and_of_the_end():
    players = [ScriptedPlayer(lambda request: 1) for _ in range(2)]
    play_spec(spec(ply_limit=5), *players)
    for player in players:
        assert player.calls[0][1].ply_limit == 5
        assert player.calls[-1] == ("end", ((1, 1), (0, 0), "adjudication"))


def test_a_record_of_an_earlier_version_has_no_limit():
    row = row_of(play_spec(spec("differences", {"size": 2})))
    earlier = re.sub(r'"ply_limit":\s*10000,\s*', "", row.record)
    assert earlier != row.record
    record = record_from(7, earlier)
    assert record.ply_limit is None
    check_record(record)


@pytest.mark.parametrize("limit", [0, -1, 2, MAX_PLY_LIMIT + 1])
def test_a_single_match_with_a_wrong_limit_is_refused(limit):
    with pytest.raises(UsageError, match=f"ply_limit = {limit}: expected a number from 3 to 1,000,000"):
        play_match("differences", BOTS / "minimal", BOTS / "minimal", opening_actions=[(1, 1), (2, 2)], ply_limit=limit)


def definition(**keys):
    entrants = {"a": str(BOTS / "minimal"), "b": str(BOTS / "greedy")}
    return make_definition("t", "differences", entrants, isolation="none", **keys)


def test_the_default_changes_nothing_of_a_tournament_and_another_limit_is_another_one():
    plain = definition()
    assert plain.ply_limit == DEFAULT_PLY_LIMIT
    assert plain == definition(ply_limit=DEFAULT_PLY_LIMIT)
    assert "ply_limit" not in plain.identity()
    assert "ply_limit" not in plain.to_json()
    short = definition(ply_limit=4)
    assert short.identity() == plain.identity() | {"ply_limit": 4}
    assert type(short).from_json("t", short.to_json()).ply_limit == 4
