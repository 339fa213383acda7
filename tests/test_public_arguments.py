"""What the functions that ``arena`` exports answer to arguments that a notebook easily gets wrong."""

import math

import pytest

import arena
from arena import Scope, TimeControl, UsageError
from arena.games import make_game
from arena.games.kernels.playouts import random_playouts
from arena.lab.oracle import Oracle
from arena.lab.shares import ShareOracle


def choose(game, state, clock):
    return game.legal_actions(state)[0]


def play(**arguments):
    return arena.play_match("multiplication", choose, choose, **({"options": {"size": 7}} | arguments))


THREE = make_game("coprimality", players=3, size=4)
RESULTS = [(("ann", "ben"), (1, 2)), (("ben", "cleo"), (1, 2))]
MISTAKES = {
    "options": (lambda: play(options=["size"]), "options = ['size']: expected a dict"),
    "a dict of times": (
        lambda: play(time_control={"per_action_seconds": 0.5}),
        "time_control = {'per_action_seconds': 0.5}: expected a TimeControl",
    ),
    "a dict of limits": (lambda: play(limits={"processes": 3}), "limits = {'processes': 3}: expected a Limits"),
    "isolation": (lambda: play(isolation=None), "isolation = None: expected a str"),
    "a negative seed": (lambda: play(rng_seed=-1), "rng_seed = -1: expected a whole number from 0 to 2**63 - 1"),
    "a seed that is text": (lambda: play(rng_seed="1"), "rng_seed = '1': expected a whole number from 0 to 2**63 - 1"),
    "ply_limit": (lambda: play(ply_limit=None), "ply_limit = None: expected a number from 1 to 1,000,000"),
    "a negative time": (
        lambda: play(time_control=TimeControl(per_action_seconds=-1)),
        "time_control.per_action_seconds = -1: expected None or a number above 0",
    ),
    "no bank": (
        lambda: play(time_control=TimeControl(bank_seconds=math.nan)),
        "time_control.bank_seconds = nan: expected None or a number above 0",
    ),
    "a margin that is text": (
        lambda: play(time_control=TimeControl(margin_seconds="0.1")),
        "time_control.margin_seconds = '0.1': expected a number of 0 or more",
    ),
    "a clock": (
        lambda: play(time_control=TimeControl(clock="sun")),
        "time_control.clock = 'sun': expected wall or cpu",
    ),
    "a version": (lambda: arena.function_bot(choose, version=2), "version = 2: expected a str"),
    "a definition": (
        lambda: arena.run_tournament("cup", None),
        "definition = 'cup': expected a Definition, such as load_definition returns",
    ),
    "a bot's path": (
        lambda: arena.replace_bot(None, "cup", "ben", "arena:greedy", reason="x"),
        "new = 'arena:greedy': expected a Bot, such as load_bot returns",
    ),
    "a newcomer's path": (
        lambda: arena.enter_late(None, "cup", "arena:greedy", reason="x"),
        "bot = 'arena:greedy': expected a Bot, such as load_bot returns",
    ),
    "one name": (lambda: Scope(tournaments="cup"), "tournaments = 'cup': expected a tuple of names"),
    "a date in words": (lambda: Scope(since="2026-11-30"), "since = '2026-11-30': expected a datetime"),
    "one name to merge": (lambda: arena.merge_home(None, "h", "cup"), "tournaments = 'cup': expected a list of names"),
    "mu beyond floats": (lambda: arena.rate_results(RESULTS, mu=10**400), "mu = 1000"),
    "sigma": (lambda: arena.rate_results(RESULTS, sigma=0), "sigma = 0: expected a number above 0"),
    "beta": (lambda: arena.rate_results(RESULTS, beta=-1), "beta = -1: expected a number above 0"),
    "mu": (lambda: arena.rate_results(RESULTS, mu=math.nan), "mu = nan: expected a number"),
    "another game": (
        lambda: Oracle(make_game("differences", size=4), "plaid"),
        "path = 'plaid': expected 'differences', the name of the game",
    ),
    "a negative time for a question": (
        lambda: Oracle(make_game("differences", size=4), "differences", within_seconds=-1),
        "within_seconds = -1: expected a number from 0",
    ),
    "no time for a table": (
        lambda: Oracle(make_game("differences", size=4), "differences").prepare(math.nan),
        "within_seconds = nan: expected a number from 0",
    ),
    "a seat": (
        lambda: ShareOracle(THREE, "coprimality").of(THREE.initial_state()).best(seat=3),
        "seat = 3: expected 0, 1 or 2",
    ),
    "playouts": (
        lambda: random_playouts(make_game("plaid"), seed=1, first=0, count=-1),
        "count = -1: expected a whole number of 0 or more",
    ),
    "a seed of playouts": (
        lambda: random_playouts(make_game("plaid"), seed=0.5, first=0, count=1),
        "seed = 0.5: expected a whole number",
    ),
    "draws": (
        lambda: arena.rate_results(RESULTS, draw_probability=1),
        "draw_probability = 1: expected None, or a number of 0 or more and below 1",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistaken_argument_is_named_with_what_is_expected(name):
    call, sentence = MISTAKES[name]
    with pytest.raises(UsageError) as raised:
        call()
    assert str(raised.value).startswith(sentence)


def test_a_negative_count_of_records_is_a_mistake(home):
    for read in (home.store.records().first, home.store.records().last):
        with pytest.raises(UsageError, match="count = -1: expected 0 or more"):
            read(-1)


def test_a_reason_is_text(home):
    with pytest.raises(UsageError, match="reason = 3: expected a str"):
        arena.withdraw(home.store, "cup", "ann", reason=3)
