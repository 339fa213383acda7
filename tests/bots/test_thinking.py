import importlib.util
import random
from functools import cache
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.botkit import Clock, MatchInfo
from arena.games import make_game
from tests.best_play import brute_force, positions
from tests.conftest import BOTS


def loaded(file):
    spec = importlib.util.spec_from_file_location(file.partition("/")[0].removesuffix(".py"), BOTS / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


alphabeta, perfect, signs, stepper, weaver, stripes, pathfinder, cornerer = (
    loaded(f"{name}/bot.py")
    for name in ("alphabeta", "perfect", "signs", "stepper", "weaver", "stripes", "pathfinder", "cornerer")
)

TINY = [
    ("plusminus", {"size": 3}),
    ("plusminus", {"size": 3, "grid_first": 2}),
    ("plaid", {"width": 4, "height": 4, "lines": 3}),
    ("plaid", {"width": 2, "height": 6, "lines": 4}),
    ("coprimality", {"size": 3, "max_grids": 2}),
    ("differences", {"size": 4}),
    ("differences", {"size": 4, "scoring": "once"}),
]


def forever():
    return Clock(1e6, None, 0.0)


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    monkeypatch.setattr("arena.botkit.seat.time.monotonic", lambda: 0.0)


@pytest.mark.parametrize(("name", "options"), TINY)
def test_perfect_chooses_an_action_of_the_best_value_everywhere(name, options):
    game = make_game(name, **options)
    value = brute_force(game)
    for seat in (0, 1):
        perfect.begin(MatchInfo(game, seat, 2, 0))
    for state, seat in positions(game, 1, 15):
        chosen = perfect.choose(game, state, forever())
        action = chosen.action if isinstance(chosen, tuple) and hasattr(chosen, "note") else chosen
        assert value(game.apply(state, action)) == value(state)
        if hasattr(chosen, "note"):
            result = value(state)[0] * (1 if seat == 0 else -1)
            assert chosen.note["perfect"] is True
            assert chosen.note["value"] == {1: "won", 0: "drawn", -1: "lost"}[result]


@pytest.mark.parametrize(("name", "options"), TINY)
def test_alphabeta_that_has_time_for_everything_finds_the_true_value(name, options):
    game = make_game(name, **options)
    value = brute_force(game)
    for state, seat in positions(game, 2, 10):
        search = alphabeta.Search(game, seat, float("inf"), 10**9)
        action, worth = search.best_action(state)
        assert not search.saw_horizon
        assert value(game.apply(state, action)) == value(state)
        result = value(state)[0] * (1 if seat == 0 else -1)
        assert (worth > 1000) - (worth < -1000) == result


@given(st.permutations(range(1, 8)), st.lists(st.sampled_from("+-"), min_size=6, max_size=6), st.integers(0, 7))
def test_the_agreement_that_signs_expects_is_the_mean_over_all_ways_to_fill_up_one_column(line, told, hidden):
    told = "".join(told)
    known = [0 if place == hidden else height for place, height in enumerate(line)]
    truth = sum((b > a) == (sign == "+") for sign, (a, b) in zip(told, pairwise(line), strict=True))
    assert signs.expected_score(known, told) == truth  # one free place is known


@given(st.permutations(range(1, 8)))
def test_stepper_counts_full_lines_exactly(line):
    lengths = [abs(a - b) for a, b in pairwise(line)]
    assert stepper.expected_score(line, once=False) == len(set(lengths))
    assert stepper.expected_score(line, once=True) == sum(lengths.count(length) == 1 for length in lengths)


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(1, 8)), st.sets(st.sampled_from([0, 2, 4, 6]), min_size=2, max_size=3), st.booleans())
def test_stepper_expects_the_mean_over_independent_ends_of_open_steps(line, hidden, once):
    """Every open step draws its own end from the free places, each as likely as the others: all draws are counted."""
    free = [line[place] for place in hidden]
    known = [0 if place in hidden else height for place, height in enumerate(line)]
    closed = [abs(a - b) for a, b in pairwise(known) if a and b]
    half_open = [a or b for a, b in pairwise(known) if (a == 0) != (b == 0)]
    totals = []
    for ends in product(free, repeat=len(half_open)):
        lengths = closed + [abs(end - here) for end, here in zip(ends, half_open, strict=True)]
        totals.append(sum(lengths.count(x) == 1 for x in lengths) if once else len(set(lengths)))
    assert stepper.expected_score(known, once) == pytest.approx(sum(totals) / len(totals))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_weaver_reckons_the_leads_after_every_line_as_the_rules_do(data):
    players = data.draw(st.sampled_from([2, 3, 4]))
    width = data.draw(st.integers(2, 12))
    game = make_game("plaid", players=players, width=width, height=players * data.draw(st.integers(1, 4)), lines=1)
    state = game.initial_state()
    upright = data.draw(st.sets(st.integers(1, width - 1), max_size=5))
    level = data.draw(st.sets(st.integers(1, game.height - 1), max_size=5)) if game.height > 1 else set()
    state = type(state)(tuple(sorted(upright)), tuple(sorted(level)))
    for seat in range(players):
        leads = weaver.by_line(weaver.Sheet(game, seat).leads(*state))
        for (direction, place), lead in leads.items():
            after = type(state)(
                tuple(sorted({*upright, place} if direction == "v" else upright)),
                tuple(sorted({*level, place} if direction == "h" else level)),
            )
            scores = game.scores(after)
            others = [score for other, score in enumerate(scores) if other != seat]
            assert lead == pytest.approx(scores[seat] - sum(others) / len(others), abs=1e-9)
        free = {("v", x) for x in range(1, width) if x not in upright}
        free |= {("h", y) for y in range(1, game.height) if y not in level}
        assert set(leads) == free


@pytest.mark.parametrize("seed", range(5))
def test_pathfinder_sees_the_ways_and_dangers_that_the_rules_see(seed):
    game = make_game("coprimality", size=7, players=3)
    draw = random.Random(seed)
    state = game.initial_state()
    while not game.is_over(state):
        board = pathfinder.Board(game, state)
        ways = {(index % 7 + 1, index // 7 + 1): index for index in board.ways()}
        assert set(ways) == set(game.legal_actions(state))
        for square, index in ways.items():
            after = game.apply(state, square)
            assert board.is_fatal(index) == (len(after.eliminated) > len(state.eliminated))
            before = list(board.numbers)
            board.put(index)
            board.take_back()
            assert board.numbers == before
        state = game.apply(state, draw.choice(sorted(ways)))


@cache
def lead_to_come(heights, numbered):
    """Return the lead of the seat to act, in multiplication for two, after the best numbering of the rest."""
    if len(numbered) == len(heights):
        return 0
    here, found = numbered[-1], []
    for there in set(range(len(heights))) - set(numbered):
        jump = abs(here - there) * abs(heights[here] - heights[there])
        found.append(jump - lead_to_come(heights, (*numbered, there)))
    return max(found)


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(1, 8)), st.integers(1, 4))
def test_cornerer_numbers_the_best_next_mark(heights, made):
    game = make_game("multiplication", size=7)
    numbered = tuple(range(made + 1))
    state = type(game.initial_state())(tuple(heights), tuple(column + 1 for column in numbered))
    chosen = cornerer.choose(game, state, forever(), None)
    assert chosen.note["lead to come"] == lead_to_come(tuple(heights), numbered)
    scored = game.scores(game.apply(state, chosen.action))[made % 2] - game.scores(state)[made % 2]
    assert scored - lead_to_come(tuple(heights), (*numbered, chosen.action[0] - 1)) == chosen.note["lead to come"]


@pytest.mark.parametrize("placed", [3, 4, 5])
def test_cornerer_places_the_last_marks_exactly(placed):
    """Against brute force over all ways to place the marks, with the exact value of each numbering."""
    game = make_game("multiplication", size=7)

    @cache
    def value(heights):
        if 0 not in heights:
            return lead_to_come(heights, (0,))
        state = type(game.initial_state())(heights, ())
        found = [value(game.apply(state, square).heights) for square in game.legal_actions(state)]
        return max(found) if game.seat_to_act(state) == 0 else min(found)

    draw = random.Random(placed)
    state = game.initial_state()
    for _ in range(placed):
        state = game.apply(state, draw.choice(game.legal_actions(state)))
    seat = game.seat_to_act(state)
    chosen = cornerer.choose(game, state, forever(), 10**9)
    assert chosen.note["lead"] == value(state.heights) * (1 if seat == 0 else -1)
    assert value(game.apply(state, chosen.action).heights) == value(state.heights)


def worth_of_stripes(game, state, line):
    """Return the lead of seat 0 after a line of plaid, and if then the columns are odd, the best upright answer."""
    after = game.apply(state, line)
    columns = len(after.vertical) + 1
    answers = [answer for answer in game.legal_actions(after) if answer[0] == "v"]
    if game.is_over(after) or columns % 2 == 0:
        return game.scores(after)[0] - game.scores(after)[1]
    leads = [scores[0] - scores[1] for scores in (game.scores(game.apply(after, answer)) for answer in answers)]
    return (max(leads) if game.seat_to_act(after) == 0 else min(leads)) if leads else 0.0


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_stripes_reckons_every_line_and_the_best_upright_answer_as_the_rules_do(data):
    width, height = data.draw(st.integers(3, 12)), 2 * data.draw(st.integers(1, 5))
    upright = data.draw(st.sets(st.integers(1, width - 1), max_size=4))
    level = data.draw(st.sets(st.integers(1, height - 1), max_size=4)) if height > 1 else set()
    lines = min(max(1, len(upright) + len(level) + data.draw(st.integers(0, 2))), width + height - 2)
    game = make_game("plaid", width=width, height=height, lines=lines)
    state = type(game.initial_state())(tuple(sorted(upright)), tuple(sorted(level)))
    free, leads = stripes.Sheet(game).leads(*state)
    assert set(free) == set(game.legal_actions(state)) or game.is_over(state)
    if not game.is_over(state):
        expected = [worth_of_stripes(game, state, line) for line in free]
        assert leads.tolist() == pytest.approx(expected, abs=1e-9)
