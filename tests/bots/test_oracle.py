import random
from itertools import count

import pytest

from arena.base.records import DEFAULT_LIMITS, TimeControl
from arena.base.shipped import CACHE_VARIABLE
from arena.botkit import Choice, Clock, MatchInfo
from arena.games import make_game
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.state_graph import explore, paranoid_of, shares_of
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation.sandbox_policy import Isolation, make_launch_spec
from tests import needs
from tests.best_play import brute_force, positions, result_of
from tests.bots.test_bots import COUNTED, bot, chooser, play
from tests.bots.test_thinking import TINY, forever, loaded
from tests.conftest import BOTS
from tests.lab.games import after

oracle = loaded("oracle/bot.py")

LADDER = {"plusminus": "signs", "coprimality": "pathfinder", "differences": "stepper", "multiplication": "cornerer"}


@pytest.mark.parametrize(("name", "options"), TINY)
def test_from_random_openings_it_never_gives_anything_away(name, options):
    """A kernel may be built here or not."""
    game, draw = make_game(name, **options), random.Random(1)
    value = brute_force(game)
    for number in range(20):
        state = game.initial_state()
        for ply in count():
            seat = game.seat_to_act(state)
            if seat is None:
                break
            if ply < number % 4 or seat == number % 2:
                state = game.apply(state, draw.choice(list(game.legal_actions(state))))
                continue
            chosen, before = oracle.choose(game, state, forever()), value(state)
            if isinstance(chosen, Choice):
                assert chosen.note["value"] == {1: "won", 0: "drawn", -1: "lost"}[before[0] * (-1 if seat else 1)]
            state = game.apply(state, chosen.action if isinstance(chosen, Choice) else chosen)
            assert value(state) == before


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("coprimality", {"players": 3, "size": 4, "max_grids": 2}),
        ("plaid", {"players": 3, "width": 3, "height": 3, "lines": 3}),
    ],
)
def test_among_three_it_takes_the_largest_share_and_of_equal_ones_what_it_can_hold(name, options):
    game = make_game(name, **options)
    graph = explore(game, name, Limits())
    shares = shares_of(graph, 3)
    paranoid = paranoid_of(graph, 3, range(len(graph)))
    for state, seat in positions(game, 1, 20):
        choices = graph.following(graph.numbers[state])
        values = [(shares[number][seat], paranoid[number][seat]) for number in choices]
        chosen = oracle.choose(game, state, forever())
        if isinstance(chosen, Choice):
            number = graph.numbers[game.apply(state, chosen.action)]
            assert (shares[number][seat], paranoid[number][seat]) == max(values)
            assert (chosen.note["share"], chosen.note["held"]) == max(values)
        assert isinstance(chosen, Choice) == (len(values) > 1)


def test_where_shares_are_not_known_in_time_it_goes_for_the_lead():
    game = make_game("multiplication", players=3, size=10)
    state = after(game, enumerate((2, 4, 6, 8, 10, 1, 3, 5, 7, 9), 1))
    assert oracle.shares_after(game, state, 0.0) == ()
    state = game.apply(state, oracle.choose(game, state, Clock(0.0, None, 0.0)))
    assert game.scores(state)[0] > 0


def test_with_a_handicap_it_draws_until_the_last_actions(monkeypatch):
    game = make_game("differences", size=4)
    asked = []
    monkeypatch.setattr(oracle, "oracle_of", lambda game: asked.append(1) or Oracle(game, "differences"))
    state, is_asked = game.initial_state(), []
    for _ in range(3):
        asked.clear()
        chosen = oracle.choose(game, state, forever(), last=2)
        is_asked.append(bool(asked))
        state = game.apply(state, chosen.action if isinstance(chosen, Choice) else chosen)
    assert is_asked == [False, False, True]
    assert oracle.ends_within(game, state, 1) and not oracle.ends_within(game, state, 0)


@pytest.mark.parametrize("text", ["-1", "x", "1.5", "99999999999999999999", ""])
def test_a_handicap_that_is_no_number_of_actions_is_refused(text):
    with pytest.raises(oracle.argparse.ArgumentTypeError, match="expected a number of actions from 0 to 10000"):
        oracle.number_of_actions(text)


def test_bounds_are_weighed_by_what_they_leave():
    bounds = [(None, None, 0.0), (1, None, 1.0), (0, None, 0.5), (None, 0, -0.5), (-3, 2, 0.0)]
    for low, high, outcome in bounds:
        found = oracle.Worth(None, None if low != 1 else "win", "search", low, high)
        assert oracle.outcome_of(found) == outcome
    draw, unknown = oracle.Worth(0, "draw", "table", 0, 0), oracle.Worth(None, None, "search", -1, 3)
    found = [oracle.ActionWorth("drawn", draw), oracle.ActionWorth("unknown", unknown)]
    assert [one.action for one in oracle.best_of(found, 0)] == ["drawn"]


@pytest.mark.parametrize("level", ["landlock", "bubblewrap"])
def test_only_example_bots_may_read_kernels_where_there_are_any(level, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    spec = make_launch_spec(load_bot("arena:oracle"), Isolation(level=level), DEFAULT_LIMITS, "/tmp/none")
    assert str(tmp_path / "arena/") not in repr({**spec, "environment": None})
    kernels = tmp_path / "arena/kernels"
    kernels.mkdir(parents=True)
    (tmp_path / "copy").mkdir()
    for file in ("bot.py", "bot.toml"):
        (tmp_path / "copy" / file).write_bytes((BOTS / "oracle" / file).read_bytes())
    shipped, copied = (
        make_launch_spec(load_bot(path), Isolation(level=level), DEFAULT_LIMITS, "/tmp/none")
        for path in ("arena:oracle", tmp_path / "copy")
    )
    assert shipped["environment"][CACHE_VARIABLE] == str(tmp_path / "arena")
    assert CACHE_VARIABLE not in copied["environment"]
    assert str(kernels) in repr(shipped) and str(kernels) not in repr({**copied, "mounts": None})


@pytest.mark.slow(sample=("bubblewrap",))
@needs.program("cc", "gcc", "clang")
@pytest.mark.parametrize("level", ["landlock", "bubblewrap"], indirect=True)
def test_in_its_sandbox_it_uses_the_kernels_that_are_there(level):
    """Without one, the first state of differences has bounds only."""
    game = make_game("differences", size=8)
    Oracle(game, "differences").actions(game.initial_state())  # builds it
    control = TimeControl(per_action_seconds=5.0)
    record = play([bot("oracle")] * 2, "differences", {"size": 8, "scoring": "once"}, control=control, level=level)
    assert (record.faults, record.termination) == ((), "normal")
    assert [note["known"] for _, note in record.notes.for_operator()] == ["table"] * 7


@pytest.mark.soak
@needs.program("cc", "gcc", "clang")
@pytest.mark.parametrize("name", LADDER)
def test_in_500_matches_of_the_suggested_size_it_never_gives_away_an_outcome(name, monkeypatch):
    assert given_away(name, 500, monkeypatch) == 0


def given_away(name, matches, monkeypatch):
    game, worse, draw = make_game(name), 0, random.Random(2)
    truth = Oracle(game, name)
    truth.actions(game.initial_state())  # the kernel is built
    names = ("random_legal", "greedy", "mcts", LADDER[name])
    opponents = [chooser(other, monkeypatch, *COUNTED.get(other, ())) for other in names]
    for number in range(matches):
        seat, other, state = number % 2, opponents[number // 2 % len(opponents)], game.initial_state()
        for _ in range(draw.randrange(4)):
            state = game.apply(state, draw.choice(list(game.legal_actions(state))))
        value = truth.worth(state).outcome
        choose, begin = other
        if begin is not None:
            begin(MatchInfo(game, 1 - seat, 2, number))
        while (to_act := game.seat_to_act(state)) is not None:
            chosen = (oracle.choose if to_act == seat else choose)(game, state, forever())
            state = game.apply(state, chosen.action if isinstance(chosen, Choice) else chosen)
        outcome, opening = result_of(game, state)[0], {"win": 1, "draw": 0, "loss": -1}[value]
        worse += outcome < opening if seat == 0 else outcome > opening
    return worse
