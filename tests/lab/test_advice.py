import re
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from arena.botkit import Clock
from arena.games import GAMES, make_game
from arena.lab.advice import ADVICE, Step, unmirrored, unpaired, unpaired_falling
from arena.match.replay import states_of
from benchmarks.advice import BOARDS
from benchmarks.annotations import random_record
from benchmarks.mistakes import mistakes_of
from tests.best_play import brute_force, positions
from tests.bots.test_thinking import loaded
from tests.conftest import ROOT

bot = loaded("advice/bot.py")


def worst(name, options, seat):
    """Return what a seat gets at least by the list, whatever it takes of what is left and whatever the other does."""
    game, sign = make_game(name, **options), 1 - 2 * seat

    @cache
    def result(state):
        to_act = game.seat_to_act(state)
        if to_act is None:
            ranks = game.ranks(state)
            return sign * ((ranks[1] > ranks[0]) - (ranks[0] > ranks[1]))
        actions = list(game.legal_actions(state))
        kept = ADVICE[name].keeping(game, state, actions) if to_act == seat else actions
        return min(result(game.apply(state, action)) for action in kept)

    return result(game.initial_state())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("differences", {"size": 4}),
        ("differences", {"size": 5, "scoring": "once"}),
        ("plusminus", {"size": 4}),
        ("plaid", {"width": 6, "height": 6, "lines": 6}),
        *(("coprimality", {"size": size, "max_grids": 1}) for size in (4, 5, 7, 8)),
    ],
)
def test_on_small_boards_a_list_keeps_the_outcome_whatever_the_other_does(name, options):
    game = make_game(name, **options)
    outcome = brute_force(game)(game.initial_state())[0]
    for seat, sign in ((0, 1), (1, -1)):
        assert worst(name, options, seat) == sign * outcome
    if name == "plusminus":  # seat 1 never loses, whoever begins the grid
        assert worst(name, {**options, "grid_first": 2}, 1) == 0


@pytest.mark.slow
def test_what_else_was_tried_with_all_replies():
    sys.setrecursionlimit(20_000)
    assert worst("multiplication", {"size": 7}, 0) == 1
    assert [worst("plusminus", {"size": 5}, seat) for seat in (0, 1)] == [0, 0]
    sheet = {"width": 12, "height": 12, "lines": 12}
    assert [worst("plaid", sheet, seat) for seat in (0, 1)] == [0, 0]
    values = {size: [worst("coprimality", {"size": size}, seat) for seat in (0, 1)] for size in range(4, 25)}
    assert [size for size, of_seats in values.items() if 1 not in of_seats] == [6, 18]


def test_mirror_images_are_those_of_the_sets_of_marks():
    game = make_game("differences", size=6)
    for state, _ in positions(game, 1, 20):
        marks = {(x, y) for x, y in enumerate(state.heights, 1) if y}
        assert unpaired(state.heights) == len(marks - {(y, x) for x, y in marks})
        assert unpaired_falling(state.heights) == len(marks - {(7 - y, 7 - x) for x, y in marks})
    sheet = make_game("plaid", width=8, height=6, lines=5)
    for state, seat in positions(sheet, 1, 20):
        step = Step(sheet, state, None, state, seat)
        assert unmirrored(step, "v") == len(set(state.vertical) - {8 - x for x in state.vertical})
        assert unmirrored(step, "h") == len(set(state.horizontal) - {6 - y for y in state.horizontal})


@pytest.mark.parametrize("name", GAMES)
def test_the_bot_and_the_page_of_a_game_have_its_list(name):
    game = make_game(name, **({"width": 9, "height": 8} if name == "plaid" else {"size": 7}))
    for state, _ in positions(game, 2, 3):
        actions = list(game.legal_actions(state))
        assert bot.choose(game, state, Clock(1e6, None, 0.0)) in ADVICE[name].keeping(game, state, actions)
        assert bot.choose(game, state, Clock(0.0, None, 0.0)) in actions
    page = " ".join((ROOT / "docs" / "games" / f"{name}.md").read_text(encoding="utf-8").split())
    advice = ADVICE[name]
    assert 1 <= len(advice.lines) <= 5
    for number, line in enumerate(advice.lines.values(), 1):
        assert f"{number}. {line.text}" in page
    assert advice.known in page
    found = re.findall(r"\| (with the first action|after 2 random actions) \| ([\d.]+) % \[([\d.]+), ([\d.]+)\]", page)
    shares = [(100 * one.kept / one.matches, 100 * one.interval[0], 100 * one.interval[1]) for one in advice.scores]
    assert [tuple(map(float, cells)) for _, *cells in found] == [pytest.approx(share, abs=0.05) for share in shares]
    assert [one.board for one in advice.scores if not one.random_actions] == list(BOARDS[name])
    kinds = re.findall(r" \d\. \d+ %: in the (?:first|second|last) third", page.partition("### How you lose")[2])
    assert len(kinds) == page.count("```text") == (1 if name == "coprimality" else 3)


def test_mistakes_are_those_that_give_an_outcome_away():
    game = make_game("differences", size=4)
    value = brute_force(game)
    records = [replace(random_record(number, "differences", {"size": 4}), opening_plies=0) for number in range(1, 41)]
    found = [one for kind in mistakes_of("differences", records).values() for one in kind]
    expected = 0
    for record in records:
        values = [value(state)[0] for _, state in states_of(record)]
        losses = [before - after for before, after in pairwise(values)]
        expected += sum(loss * (1 - 2 * seat) > 0 for (seat, _), loss in zip(record.actions, losses, strict=True))
    assert len(found) == expected > 10
    for one in found:
        now, played, better = (value(state)[0] for state in (one.state, *(game.apply(one.state, a) for a in one[4:6])))
        assert better == now != played
