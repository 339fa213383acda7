import random
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import cache
from itertools import pairwise

import pytest

from arena.base.enums import Decision
from arena.base.records import MatchSpec, TimeControl
from arena.botkit import Choice, Clock, MatchInfo, spread, until
from arena.games import GAMES, make_game
from arena.match.bot_pool import BotPool
from arena.match.players.manifest import load_bot
from arena.ratings.sequential import Hypotheses
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.experiments import comparison_result
from tests.amazons import Amazons
from tests.bots.test_thinking import loaded
from tests.conftest import BOTS, ROOT

COUNTED = {
    "mcts": ("--rollouts", "20"),
    "alphabeta": ("--nodes", "300"),
    "signs": ("--nodes", "300"),
    "stepper": ("--nodes", "50"),
    "weaver": ("--sheets", "100"),
    "stripes": ("--sheets", "100"),
    "pathfinder": ("--nodes", "500"),
    "cornerer": ("--finishes", "4"),
}
"""The bots that count instead of watching the clock, with small counts."""
PERFECT = ("perfect", "oracle")
NAMES = ("minimal", "random_legal", "greedy", "advice", *PERFECT, *COUNTED)
PLAYED = [(name, game) for name in NAMES for game in load_bot(BOTS / name).games or GAMES]
FOR_ALL = ("advice", "perfect", "oracle", "mcts", "alphabeta")
TIMED = [
    pytest.param(name, game, marks=pytest.mark.soak if name in FOR_ALL and game != "plaid" else ())
    for name, game in PLAYED
    if name not in ("minimal", "random_legal", "greedy")
]
"""Who watches the clock; the bots for all games are tried at one of them, and at all in the soak."""
SMALL = {
    "plusminus": [{"size": 4}, {"size": 4, "grid_first": 2}],
    "plaid": [{"width": 8, "height": 8, "lines": 5}, {"players": 3, "width": 9, "height": 8, "lines": 4}],
    "coprimality": [{"size": 4}, {"size": 4, "players": 3}],
    "differences": [{"size": 5}, {"size": 5, "scoring": "once"}],
    "multiplication": [{"size": 7}, {"players": 3, "size": 10}],
}


def bot(name, *args):
    return load_bot(BOTS / name, args)


PATIENT = TimeControl(per_action_seconds=5.0)
HASTY = TimeControl(per_action_seconds=0.1, margin_seconds=5.0)


def play(bots, game, options, rng_seed=1, control=PATIENT, level="auto", pool=None):
    common = {"match": 1, "tournament": "", "time_control": control}
    spec = MatchSpec(game=game, options=options, bots=tuple(bots), rng_seed=rng_seed, **common)
    with nullcontext(pool) if pool is not None else BotPool(choose_isolation(level)) as used:
        return used.play(spec)


@pytest.fixture(scope="module")
def pool():
    with BotPool(choose_isolation("auto")) as pool:
        yield pool


@cache
def played_alone(name, game, number, pool):
    options = SMALL[game][number]
    players = options.get("players", 2)
    control = HASTY if players > 2 else PATIENT  # nobody solves a game for three
    return play([bot(name, *COUNTED.get(name, ()))] * players, game, options, control=control, pool=pool)


SLOW = [(name, game) for name in PERFECT for game in GAMES if game != "plaid"]


def check_matches(name, game, pool):
    for number in range(len(SMALL[game])):
        record = played_alone(name, game, number, pool)
        assert (record.faults, record.termination) == ((), "normal")
        assert record.seats[0].stderr == ""


@pytest.mark.slow(sample=("random_legal", "greedy", "signs"))
@pytest.mark.parametrize("name", NAMES)
def test_a_bot_plays_every_game_it_claims_in_every_seat_without_a_fault(name, pool):
    for pair in PLAYED:
        if pair[0] == name and pair not in SLOW:
            check_matches(*pair, pool)


@pytest.mark.soak
@pytest.mark.parametrize(("name", "game"), SLOW)
def test_a_bot_that_solves_plays_without_a_fault(name, game, pool):
    check_matches(name, game, pool)


@pytest.mark.parametrize("name", NAMES)
def test_a_bot_says_who_it_is_in_its_bot_toml(name):
    about = bot(name)
    assert about.name == name
    assert set(about.games) <= set(GAMES)
    assert about.name in (BOTS / "README.md").read_text()


@pytest.mark.slow(sample=("stepper-differences",))
@pytest.mark.parametrize(
    ("name", "game"), [pair for pair in PLAYED if pair[0] in COUNTED and (pair[0] not in FOR_ALL or pair[1] == "plaid")]
)
def test_a_bot_that_counts_plays_the_same_match_from_the_same_seed(name, game, pool):
    """Also where it was launched anew."""
    assert played_alone(name, game, 1, pool).actions == played_alone.__wrapped__(name, game, 1, None).actions


@pytest.mark.slow
@pytest.mark.parametrize(("name", "game"), TIMED)
def test_a_bot_that_watches_its_clock_keeps_to_it_on_large_and_small_boards(name, game, pool):
    large = {
        "plusminus": {"size": 20},
        "plaid": {"width": 200, "height": 200, "lines": 10},
        "coprimality": {"size": 20, "players": 4},
        "differences": {"size": 20},
        "multiplication": {"size": 21},
    }[game]
    control = TimeControl(per_action_seconds=0.05, margin_seconds=3.0)
    for options in (large, *SMALL[game]):
        players = options.get("players", 2)
        record = play([bot(name)] + [bot("random_legal")] * (players - 1), game, options, control=control, pool=pool)
        assert record.faults == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random_legal", "greedy"])
def test_the_same_seed_gives_the_same_match_and_another_seed_another(name, pool):
    match = {"bots": [bot(name)] * 2, "game": "differences", "options": {"size": 8}, "pool": pool}
    first, again, other = (play(**match, rng_seed=seed).actions for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.slow
def test_mcts_uses_its_clock_and_keeps_to_it(pool):
    control = TimeControl(per_action_seconds=0.6, margin_seconds=3.0)
    record = play([bot("mcts")] * 2, "differences", {"size": 5}, control=control, pool=pool)
    assert record.faults == ()
    assert max(record.wall_seconds) > 0.6 / 3
    control = TimeControl(per_action_seconds=None, bank_seconds=2.0, margin_seconds=3.0)
    record = play([bot("mcts")] * 2, "differences", {"size": 8}, control=control, pool=pool)
    assert record.faults == ()
    assert record.seats[0].wall_seconds > 2.0 / 10


RUNGS = {
    "plusminus": ["random_legal", "greedy", "mcts", "alphabeta", "signs"],
    "plaid": ["random_legal", "greedy", "mcts", "alphabeta", "weaver", "stripes"],
    "coprimality": ["random_legal", "greedy", "alphabeta", "mcts", "pathfinder"],
    "differences": ["random_legal", "greedy", "mcts", "alphabeta", "stepper"],
    "multiplication": ["random_legal", "greedy", "mcts", "alphabeta", "cornerer"],
}
"""By tournament file, from the lowest."""
NEIGHBOURS = [(name, *pair) for name, rungs in RUNGS.items() for pair in pairwise(rungs)]


@pytest.mark.soak
@pytest.mark.parametrize(("name", "worse", "better"), NEIGHBOURS)
def test_each_bot_beats_the_one_below(name, worse, better, home):
    """By a sequential test over encounters, as both matches of an opening may be decided by it."""
    shipped = load_definition(ROOT / "tournaments" / f"{name}.toml")
    entrants = {entrant.name: entrant for entrant in shipped.entrants}
    definition = replace(
        shipped,
        entrants=(entrants[better], entrants[worse]),
        format="comparison",
        encounters=1000,
        settings=asdict(Hypotheses(elo0=0.0, elo1=20.0)),
    )
    run_tournament(definition, home.store)
    result = comparison_result(home.store, home.store.tournament(name))
    assert result.verdict.decision is Decision.ACCEPTED, result.verdict


def test_every_rung_of_the_ladder_is_in_its_tournament():
    for name, rungs in RUNGS.items():
        shipped = load_definition(ROOT / "tournaments" / f"{name}.toml")
        assert sorted(bot.name for bot in shipped.entrants) == sorted(rungs)


make_tables = loaded("make_tables.py")
"""The tables of bots/README.md: shares of points by encounter, and their intervals."""


def record(encounter, bots, ranks):
    return {"encounter": encounter, "bots": [f"{bot}@1" for bot in bots], "ranks": ranks}


def test_an_encounter_is_one_share_for_each_pair_whose_interval_tells_them_apart_or_not():
    records = [
        record(1, ["a", "b"], [1, 2]),
        record(1, ["b", "a"], [1, 1]),
        record(2, ["a", "b"], [2, 1]),
        record(2, ["b", "a"], [1, 2]),
        record(3, ["a", "b", "c"], [2, 1, 2]),
    ]
    shares = make_tables.shares_by_encounter(records)
    assert shares["a", "b"] == [0.75, 0.0, 0.0]
    assert shares["b", "a"] == [0.25, 1.0, 1.0]
    assert shares["a", "c"] == shares["c", "a"] == [0.5]
    # Of 1, 0.5, 0.5, 0: mean 0.5, s² = 0.5 / 3, 1.96 · √(0.1667 / 4) = 0.4001.
    assert make_tables.share_with_interval([1.0, 0.5, 0.5, 0.0]) == pytest.approx((0.5, 0.4001), abs=1e-4)
    shares = {("a", "b"): [1.0, 0.5, 0.5, 0.0], ("a", "c"): [1.0, 1.0, 1.0, 0.5]}
    assert make_tables.compared("a", "b", shares).endswith("50.0 ± 40.0 % of the points; not told apart")
    assert make_tables.compared("a", "c", shares) == "- `a` over `c`: 87.5 ± 24.5 % of the points"


SECONDS = 1.0


class FakeTime:
    def __init__(self, monkeypatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)


class SlowAmazons(Amazons):
    """Amazons with rules that take time: so much of it that no bot can look at all actions."""

    time: FakeTime
    applied = 0

    def legal_actions(self, state):
        self.time.now += 0.002
        return super().legal_actions(state)

    def apply(self, state, action):
        self.time.now += 0.001
        self.applied += 1
        return super().apply(state, action)

    def scores(self, state):
        self.time.now += 0.001
        return (len(state.arrows) % 2, 0) if self.seat_to_act(state) is not None else super().scores(state)


@pytest.fixture
def fake_time(monkeypatch):
    return FakeTime(monkeypatch)


def chooser(name, monkeypatch, *args):
    taken = {}
    monkeypatch.setattr("arena.botkit.run", lambda choose, **settings: taken.update(settings, choose=choose))
    monkeypatch.setattr("sys.argv", ["bot.py", *args])
    source = (BOTS / name / "bot.py").read_text(encoding="utf-8")
    exec(compile(source, f"{name}/bot.py", "exec"), {"__name__": "__main__"})
    return taken["choose"], taken.get("on_match")


@pytest.mark.parametrize("name", ["random_legal", "greedy", "mcts", "alphabeta", "perfect", "oracle"])
@pytest.mark.parametrize("seed", [0, 5])
def test_a_bot_for_all_games_answers_in_time(name, seed, fake_time, monkeypatch):
    game = SlowAmazons()
    game.time = fake_time
    choose, on_match = chooser(name, monkeypatch)
    draw, state = random.Random(seed), game.initial_state()
    for _ in range(seed):
        state = game.apply(state, draw.choice(game.legal_actions(state)))
    if on_match is not None:
        on_match(MatchInfo(game, game.seat_to_act(state), 2, 0))
    game.applied = 0
    asked_at = fake_time.now
    chosen = choose(game, state, Clock(SECONDS, None, asked_at))
    assert fake_time.now - asked_at < SECONDS
    assert (chosen.action if isinstance(chosen, Choice) else chosen) in Amazons().legal_actions(state)
    assert name == "random_legal" or game.applied > 300  # it used its time


@pytest.mark.slow(
    only=("cornerer-multiplication-options4", "stepper-differences-options1", "stripes-plaid-options3"),
    sample=("stepper-differences-options1",),
)
@pytest.mark.parametrize(
    ("name", "rules", "options"),
    [
        ("signs", "plusminus", {"size": 100, "grid_first": 1}),
        ("stepper", "differences", {"size": 100}),
        ("weaver", "plaid", {"width": 1000, "height": 1000, "lines": 100}),
        ("stripes", "plaid", {"width": 1000, "height": 1000, "lines": 100}),
        ("cornerer", "multiplication", {"size": 99}),
        ("pathfinder", "coprimality", {"size": 100}),
    ],
)
def test_a_bot_for_one_game_answers_in_time_on_its_largest_board(name, rules, options, monkeypatch):
    """The clock moves on by a millisecond whenever it is looked at, and a board of 100 by 100 has 10,000 actions."""
    game, now = make_game(rules, **options), [1000.0]

    def monotonic():
        now[0] += 0.001
        return now[0]

    state = game.initial_state()
    while name == "signs" and game.legal_actions(state)[0] in ("+", "-"):
        state = game.apply(state, "+")
    choose, _ = chooser(name, monkeypatch)
    monkeypatch.setattr("time.monotonic", monotonic)
    asked_at = now[0]
    chosen = choose(game, state, Clock(SECONDS, None, asked_at))
    assert now[0] - asked_at < SECONDS
    assert (chosen.action if isinstance(chosen, Choice) else chosen) in game.legal_actions(state)


def test_until_ends_when_the_time_is_up_and_yields_one_at_least(fake_time):
    seen = []
    for item in until(fake_time.now + 3, range(10)):
        fake_time.now += 1
        seen.append(item)
    assert seen == [0, 1, 2, 3]
    assert list(until(fake_time.now - 1, "abc")) == ["a"]
    assert list(until(fake_time.now, [])) == []
    assert list(until(float("inf"), "abc")) == ["a", "b", "c"]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 64, 100, 2176])
def test_spread_yields_every_item_once(count):
    items = [f"item {number}" for number in range(count)]
    assert sorted(spread(items)) == sorted(enumerate(items))


def test_the_beginning_of_a_spread_order_is_of_all_parts():
    first = [number for number, _ in spread(range(2000))][:100]
    assert all(any(low <= number < low + 100 for number in first) for low in range(0, 2000, 100))
