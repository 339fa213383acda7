"""The strategies, exhaustively on small boards; and where they break."""

import pytest

from arena.base.errors import IllegalActionError
from arena.games import make_game
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.proofs import STRATEGIES, proof_of, strategies_for
from arena.lab.solving.worth import HIGHEST, LOWEST, Known, Outcome
from tests.lab import games


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

SMALL = [
    *[("differences", {"size": size, "scoring": scoring}) for size in range(2, 7) for scoring in ("distinct", "once")],
    *[("plusminus", {"size": size, "grid_first": first}) for size in range(2, 6) for first in (1, 2)],
]


@pytest.mark.parametrize(("name", "options"), SMALL, ids=str)
def test_on_small_boards_no_play_beats_a_strategy(name, options):
    game = make_game(name, **options)
    seats = [seat for _, seat in strategies_for(game, name)]
    assert seats == ([0, 1] if name == "differences" else [1])
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
