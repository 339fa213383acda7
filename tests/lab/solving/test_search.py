import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.errors import IllegalActionError
from arena.games import make_game
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.proofs import STRATEGIES, proof_of, strategies_for
from arena.lab.solving.search import Search
from arena.lab.solving.worth import HIGHEST, LOWEST, Known, Outcome, value_of, value_of_margin, worth_between
from tests.lab import games
from tests.lab.solving.test_retrograde import SMALL, trees


def value(game, state):
    outcome, margin = games.plain_value(game, state)
    ranks = {1: (1, 2), 0: (1, 1), -1: (2, 1)}[outcome]
    return value_of((margin, 0), ranks)


class Ticking:
    """A clock that reaches the deadline when it has been read a number of times."""

    def __init__(self, times):
        self.left = times

    def __call__(self):
        self.left -= 1
        return 0.0 if self.left >= 0 else 1.0


@pytest.mark.slow(only=("plaid, one line short", "plaid, pie"), sample=True)
@pytest.mark.parametrize(("name", "options"), SMALL.values(), ids=SMALL)
def test_bounds_of_an_interrupted_search_hold_the_value(name, options):
    game = make_game(name, **options)
    start = game.initial_state()
    truth = value(game, start)
    for times in range(12):
        search = Search(game, Limits(deadline=1.0, clock=Ticking(times)))
        found = search.bounds(start)
        assert found.low <= truth <= found.high
        if found.low == found.high:
            break
        search.limits = Limits()
        again = search.bounds(start)  # what was learned so far is still true
        assert again.low == again.high == truth


@given(trees(2), st.integers(-3, 3), st.integers(1, 4))
def test_a_narrow_question_has_a_true_answer(positions, alpha, width):
    game = games.game_of(positions)
    low, high = value_of_margin(alpha), value_of_margin(alpha + width)
    search = Search(game, Limits())
    found = search.bounds(0, low, high)
    truth = value(game, 0)
    assert found.low <= truth <= found.high
    assert found.low >= high or found.high <= low or found.low == found.high
    exact = search.bounds(0)
    assert exact.low == exact.high == truth


@given(trees(2))
def test_without_room_for_a_table_the_value_is_the_same(positions):
    game = games.game_of(positions)
    found = Search(game, Limits(memory_bytes=0)).bounds(0)
    assert found.low == found.high == value(game, 0)


def test_worth_says_what_the_bounds_say_also_of_a_match_longer_than_the_search_looks_ahead():
    found = Search(games.game_of((), games.Endless), Limits()).bounds(0)
    assert (found.low, found.high, found.depth) == (LOWEST, HIGHEST, 200)
    exact = worth_between(value_of((3, 5), (2, 1)), value_of((3, 5), (2, 1)), Known.TABLE)
    assert (exact.margin, exact.outcome, exact.low, exact.high) == (-2, Outcome.LOSS, -2, -2)
    bounds = worth_between(value_of_margin(1), value_of_margin(4), Known.SEARCH)
    assert (bounds.margin, bounds.outcome, bounds.low, bounds.high) == (None, Outcome.WIN, 1, 4)
    half = worth_between(LOWEST, 0, Known.PROVED)
    assert (half.margin, half.outcome, half.low, half.high) == (None, None, None, 0)
    nothing = worth_between(LOWEST, HIGHEST, Known.SEARCH)
    assert (nothing.margin, nothing.outcome, nothing.low, nothing.high) == (None, None, None, None)
    by_ranks = worth_between(value_of((3, 5), (1, 2)), HIGHEST, Known.SEARCH, ranks_follow_scores=False)
    assert (by_ranks.outcome, by_ranks.low) == (Outcome.WIN, None)
    narrow = value_of((1.0, 1.0), (1, 2))  # a win by less than nine decimals
    worth = worth_between(narrow, narrow, Known.TABLE)
    assert (worth.margin, worth.outcome) == (0, Outcome.WIN)


class BrokenStrategyError(Exception):
    """A strategy breaks its promise after a line of play."""

    def __init__(self, strategy, problem, line):
        super().__init__(f"the strategy {strategy.name!r} for {strategy.game} {problem} after {list(line)}")


def check_exhaustively(game, strategy, seat):
    """Try every action of the other seats against a strategy, also in a seat that it is not for; count states."""
    first = _after_reply(game, strategy, seat, game.initial_state(), ())
    seen = {first[0]}
    waiting = [first]
    while waiting:
        state, line = waiting.pop()
        _check(game, strategy, seat, state, line)
        if game.is_over(state):
            continue
        for action in game.legal_actions(state):
            after = _after_reply(game, strategy, seat, game.apply(state, action), (*line, action))
            if after[0] not in seen:
                seen.add(after[0])
                waiting.append(after)
    return len(seen)


def _after_reply(game, strategy, seat, state, line):
    while game.seat_to_act(state) == seat:
        action = strategy.reply(game, state)
        if action is None:
            raise BrokenStrategyError(strategy, "has no action", line)
        try:
            state = game.apply(state, action)
        except IllegalActionError as error:
            raise BrokenStrategyError(strategy, f"wants what is not legal ({error.reason})", line) from error
        line = (*line, action)
    return state, line


def _check(game, strategy, seat, state, line):
    if game.is_over(state):
        ranks = game.ranks(state)
        if ranks[seat] > min(ranks):
            raise BrokenStrategyError(strategy, f"loses in seat {seat}", line)
    elif not strategy.holds(game, state):
        raise BrokenStrategyError(strategy, "leaves a state without its invariant", line)


TRANSPOSITION, COPIED, REFLECTION = STRATEGIES

SHEETS = [
    (width, height, lines)
    for width in range(1, 7)
    for height in range(1, 7)
    for lines in range(1, width + height - 1)
    if width * height % 2 == 0
]

SMALL_BOARDS = [
    *[("differences", {"size": size, "scoring": scoring}) for size in range(2, 7) for scoring in ("distinct", "once")],
    *[("plusminus", {"size": size, "grid_first": first}) for size in range(2, 6) for first in (1, 2)],
]


@pytest.mark.parametrize(("name", "options"), SMALL_BOARDS, ids=str)
def test_on_small_boards_no_play_beats_a_strategy(name, options):
    game = make_game(name, **options)
    assert [seat for _, seat in strategies_for(game, name)] == ([0, 1] if name == "differences" else [1])
    for strategy, seat in strategies_for(game, name):
        assert check_exhaustively(game, strategy, seat) > 1


def test_reflection_holds_on_the_sheets_that_it_is_for_and_breaks_on_all_others():
    holds, breaks = set(), set()
    for width, height, lines in SHEETS:
        game = make_game("plaid", width=width, height=height, lines=lines)
        if strategies_for(game, "plaid"):
            check_exhaustively(game, REFLECTION, 0)
            holds.add((width, height, lines))
        else:
            with pytest.raises(BrokenStrategyError):
                check_exhaustively(game, REFLECTION, 0)
            breaks.add((width, height, lines))
    assert {(4, 4, 4), (4, 3, 5), (3, 4, 3), (1, 6, 4)} <= holds
    assert {(4, 4, 5), (3, 4, 4), (5, 2, 2)} <= breaks


@pytest.mark.parametrize(
    ("name", "options"),
    [("differences", {"size": 4}), ("plusminus", {"size": 3}), ("plaid", {"width": 4, "height": 4, "lines": 3})],
)
def test_what_is_proved_of_any_state_is_true(name, options):
    game = make_game(name, **options)
    waiting, seen, proved = [game.initial_state()], set(), 0
    while waiting:
        state = waiting.pop()
        if state in seen or game.is_over(state):
            continue
        seen.add(state)
        proof = proof_of(game, name, state)
        outcome, margin = games.plain_value(game, state)
        assert (proof.low == LOWEST or (outcome, margin) >= (0, 0)) and (proof.high == HIGHEST or outcome <= 0)
        proved += proof.low != LOWEST or proof.high != HIGHEST
        for action in proof.actions:
            after = games.plain_value(game, game.apply(state, action))
            assert after >= (0, 0) if game.seat_to_act(state) == 0 else after <= (0, 0)
        waiting += [game.apply(state, action) for action in game.legal_actions(state)]
    assert 0 < proved < len(seen)


def test_the_oracle_takes_a_proof_before_a_search():
    game = make_game("differences", size=40)
    oracle = Oracle(game, "differences", Limits(deadline=0.0, clock=lambda: 1.0))
    start = game.initial_state()
    worth = oracle.worth(start)
    assert (worth.margin, worth.outcome, worth.known) == (0, Outcome.DRAW, Known.PROVED)
    aside = oracle.worth(game.apply(start, (1, 2)))  # seat 1 answers, and has a draw; nothing is proved for seat 0
    assert (aside.margin, aside.high, aside.known) == (None, 0, Known.PROVED)
