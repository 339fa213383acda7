"""Bots in a game with thousands of actions: they answer in time, on a clock that only the rules move on."""

from __future__ import annotations

import random

import pytest

from arena.botkit import Choice, Clock, MatchInfo, spread, until
from arena.games import make_game
from tests.amazons import Amazons
from tests.conftest import BOTS

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
