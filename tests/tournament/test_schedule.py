from collections import Counter
from itertools import islice
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.definition import Definition, GameChoice
from arena.base.errors import DefinitionError
from arena.base.records import Bot, Limits, TimeControl
from arena.base.seeds import pick_below
from arena.games import make_game
from arena.tournament.formats.format import Field
from arena.tournament.formats.table import FORMATS
from arena.tournament.openings import openings
from arena.tournament.schedule import rotations, schedule, spec_of
from tests.games.variants import VARIANTS


def definition(entrants=4, encounters=3, games=(("differences", {}),), plies=2, rng_seed=1):
    bots = tuple(Bot(name=f"bot{k}", version="1", command=("x",), directory="/") for k in range(entrants))
    choices = []
    for name, options in games:
        game = make_game(name, **options)
        choices.append(GameChoice(game=name, options=game.options, players=game.players))
    return Definition(
        name="t",
        games=tuple(choices),
        entrants=bots,
        format="round-robin",
        encounters=encounters,
        opening_plies=plies,
        time_control=TimeControl(),
        limits=Limits(),
        rng_seed=rng_seed,
        isolation="auto",
        fresh_bots=False,
        workers=None,
    )


@given(st.integers(2, 12), st.integers(2, 4))
def test_a_round_robin_has_every_pairing_once(entrants, players):
    names = tuple(map(str, range(max(entrants, players))))
    field = Field(bots=names, names=names, players=players, settings=FORMATS["round-robin"].Settings())
    entrants = field.entrants
    pairings = [pairing for upcoming in FORMATS["round-robin"](field).rounds() for pairing in upcoming.pairings]
    assert len(pairings) == comb(entrants, players)
    assert len({frozenset(pairing) for pairing in pairings}) == len(pairings)
    assert all(len(set(pairing)) == players for pairing in pairings)


def test_rotations_put_everybody_in_every_seat_once():
    assert rotations((4, 5, 6)) == [(4, 5, 6), (5, 6, 4), (6, 4, 5)]


@settings(deadline=None)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**63 - 1))
def test_every_encounter_is_one_opening_in_all_rotations(entrants, encounters, rng_seed):
    matches = list(schedule(definition(entrants, encounters, rng_seed=rng_seed)))
    assert [line.match for line in matches] == list(range(1, len(matches) + 1))
    assert len(matches) == comb(entrants, 2) * 2 * encounters
    by_encounter = {}
    for line in matches:
        by_encounter.setdefault(line.encounter, []).append(line)
    for lines in by_encounter.values():
        assert len({(line.opening, line.opening_actions, line.game) for line in lines}) == 1
        assert sorted(line.seats for line in lines) == sorted(rotations(lines[0].seats))
    seats = Counter((entrant, seat) for line in matches for seat, entrant in enumerate(line.seats))
    assert len(set(seats.values())) == 1


def test_three_players_meet_in_every_group_of_three():
    games = (("coprimality", {"players": 3, "size": 5}),)
    matches = list(schedule(definition(4, 2, games)))
    assert len(matches) == comb(4, 3) * 3 * 2


def test_several_games_are_played_in_turn():
    games = (("differences", {}), ("plaid", {}))
    matches = list(schedule(definition(2, 2, games)))
    assert [line.game for line in matches] == [0, 0, 1, 1, 0, 0, 1, 1]


def test_seeds_differ_from_match_to_match_and_follow_from_the_definition():
    first, second, other = (list(schedule(definition(rng_seed=seed))) for seed in (1, 1, 2))
    assert first == second
    assert len({line.rng_seed for line in first}) == len(first)
    assert not {line.rng_seed for line in first} & {line.rng_seed for line in other}


@pytest.mark.parametrize("variant", VARIANTS)
def test_openings_are_legal_and_leave_everybody_in_the_match(variant):
    name, options = VARIANTS[variant]
    game = make_game(name, **options)
    for opening in islice(openings(game, 2, rng_seed=3), 20):
        state = game.initial_state()
        for action in opening:
            assert action in game.legal_actions(state)
            state = game.apply(state, action)
        assert not game.is_over(state)
        assert game.seats_out(state) == ()


def test_an_opening_eliminates_nobody():
    """On four by four, nine random numbers often cost a seat its place."""
    game = make_game("coprimality", players=3, size=4)
    for opening in islice(openings(game, 9, rng_seed=3), 20):
        state = game.initial_state()
        for action in opening:
            state = game.apply(state, action)
        assert game.seats_out(state) == ()


def test_openings_differ_as_long_as_there_are_new_ones():
    """Plusminus has four openings of two plies."""
    drawn = list(islice(openings(make_game("plusminus"), 2, rng_seed=1), 8))
    assert len(set(drawn[:4])) == 4
    assert len(drawn) == 8


def test_when_there_are_no_new_openings_they_are_not_looked_for_again(monkeypatch):
    """Plusminus has four openings: the fifth takes 200 tries, and the 995 after it one each."""
    picked = []

    def pick(limit, *parts):
        picked.append(parts)
        return pick_below(limit, *parts)

    monkeypatch.setattr("arena.tournament.openings.pick_below", pick)
    list(islice(openings(make_game("plusminus"), 2, rng_seed=1), 1000))
    assert len(picked) < 2 * (1000 + 4 * 200)


def test_an_opening_that_would_end_the_match_is_refused():
    with pytest.raises(DefinitionError, match="opening_plies = 9"):
        next(openings(make_game("differences"), 9, rng_seed=1))


def test_a_spec_holds_all_a_worker_needs():
    made = definition(2)
    line = next(iter(schedule(made)))
    spec = spec_of(line, made)
    assert [bot.name for bot in spec.bots] == ["bot0", "bot1"]
    assert (spec.game, spec.options["size"], len(spec.opening_actions)) == ("differences", 8, 2)
