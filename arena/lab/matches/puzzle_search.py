"""Finds puzzles in matches: positions in which a bot has missed the only action that keeps the outcome."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import Any

from arena.base.errors import GameError, UsageError
from arena.base.records import MatchRecord
from arena.base.seeds import derived_seed
from arena.games import GAMES, make_game
from arena.games.game import Game
from arena.lab.matches.puzzle import MAX_TURNS, Choice, Miss, Puzzle, Theme, Turn
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits, TimeIsUpError
from arena.lab.solving.positions import symmetries_of
from arena.lab.solving.state_graph import MAX_PLIES
from arena.lab.solving.worth import OUTCOMES, SIGNS, Outcome
from arena.match.replay import states_of

# The positions of matches in which bots had to choose, each once up to symmetry, with what the bots did there.

MAX_POSITIONS = 100_000
"""The most positions in memory, up to symmetry."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a bot did in a position after ``ply`` actions, and the state after it."""

    game: Game[Any]
    record: MatchRecord
    ply: int
    state: Any
    after: Any


def decisions_by_position(records: Iterable[MatchRecord]) -> dict[Hashable, list[Decision]]:
    """Return all decisions of bots by position, equal up to symmetry.

    Raises:
        UsageError: if a match is not for two, or there are too many positions.
        ReplayError: if a record contradicts the rules.
        GameError: if the states of a game can't be compared.
    """
    decisions = dict[Hashable, list[Decision]]()
    games = dict[Hashable, Game[Any]]()
    for record in records:
        if len(record.bots) != 2:
            raise UsageError(
                f"match {record.match}: {record.game} for {len(record.bots)}: only a game for two has one value, and"
                " so a puzzle"
            )
        name = (record.game, *sorted(record.options.items()))
        line = list(states_of(record))
        if name not in games:  # those of the arena as they are, for which there are kernels
            games[name] = make_game(record.game, **record.options) if record.game in GAMES else line[0][0]
        game = games[name]
        states = [state for _, state in line]
        try:
            keys = list(_up_to_symmetry(game, record, states))
        except TypeError as error:
            raise GameError(record.game, "initial_state", f"returned a state that is no value: {error}") from error
        for ply in range(record.opening_plies, len(record.actions)):
            decision = Decision(game, record, ply, states[ply], states[ply + 1])
            decisions.setdefault((name, keys[ply]), []).append(decision)
        if len(decisions) > MAX_POSITIONS:
            raise UsageError(f"there are more than {MAX_POSITIONS:,} positions; choose fewer by --max-matches")
    return decisions


def _up_to_symmetry(game: Game[Any], record: MatchRecord, states: Sequence[Any]) -> Iterator[Hashable]:
    """Yield a key for each state, which its images under symmetries share."""
    maps = symmetries_of(game, record.game)
    images = [states[0]] * len(maps)
    yield frozenset((states[0],))
    for state, (_, action) in zip(states[1:], record.actions, strict=True):
        images = [game.apply(image, action_map(action)) for image, action_map in zip(images, maps, strict=True)]
        yield frozenset((state, *images))


# How a puzzle continues: the only action at each turn of its seat, what refutes the others, and its theme.

MIN_CHOICES, MAX_CHOICES = 3, 1000
"""Of two actions, a random choice is right every other time."""


@dataclass(frozen=True, slots=True)
class LineFinder:
    """Finds the turns of ``seat``, which keeps the outcome ``goal`` for seat 0.

    ``within_seconds`` is the time for one question, which all replies to an action share.
    """

    game: Game[Any]
    oracle: Oracle
    seat: int
    goal: Outcome
    within_seconds: float | None

    def turns(self, state: Any) -> tuple[Turn, ...]:
        """Return the turns from a state on, with refutations; none unless exactly one action keeps the outcome there.

        The other seat replies so that again exactly one action keeps the outcome; then with the best margin for it.
        """
        turns, turn = list[Turn](), self._turn(state)
        while turn is not None:
            turns.append(self._with_refutations(state, turn))
            if len(turns) == MAX_TURNS:
                break
            replied = self._best_reply(self.game.apply(state, self.game.legal_actions(state)[turn.solution]))
            state, turn = replied or (state, None)
        return tuple(turns)

    def _turn(self, state: Any, reply: str = "", within_seconds: float | None = None) -> Turn | None:
        """Return the turn in a state; None unless it is known that exactly one of enough actions keeps the outcome."""
        if self.game.seat_to_act(state) != self.seat:
            return None
        if not MIN_CHOICES <= len(self.game.legal_actions(state)) <= MAX_CHOICES:
            return None
        choices, keeping = list[Choice](), list[int]()
        for number, choice in enumerate(self.oracle.actions(state, within_seconds)):
            outcome = choice.worth.outcome
            if outcome is None:
                return None
            text = str(self.game.format_action(choice.action))
            choices.append(Choice(text=text, outcome=outcome, margin=choice.worth.margin))
            keeping += [number] if outcome is self.goal else []
        return Turn(reply=reply, choices=tuple(choices), solution=keeping[0]) if len(keeping) == 1 else None

    def _best_reply(self, state: Any) -> tuple[Any, Turn] | None:
        """Return the state after the reply, and the turn there; None if no reply leaves exactly one action."""
        replies = list(self._replies(state, self.goal))
        share = None if self.within_seconds is None else self.within_seconds / max(len(replies), 1)
        for action in replies:
            after = self.game.apply(state, action)
            turn = self._turn(after, str(self.game.format_action(action)), share)
            if turn is not None:
                return after, turn
        return None

    def _with_refutations(self, state: Any, turn: Turn) -> Turn:
        """Return a turn with a reply to each wrong action, where one is known."""
        share = None if self.within_seconds is None else self.within_seconds / len(turn.choices)
        choices = list(turn.choices)
        for number, action in enumerate(self.game.legal_actions(state)):
            if number != turn.solution:
                replies = self._replies(self.game.apply(state, action), choices[number].outcome, share)
                texts = (str(self.game.format_action(reply)) for reply in replies)
                choices[number] = replace(choices[number], refutation=next(texts, ""))
        return replace(turn, choices=tuple(choices))

    def _replies(self, state: Any, outcome: Outcome, within_seconds: float | None = None) -> Iterator[Any]:
        """Yield the actions of the other seat that lead to an outcome, the best margin first."""
        if self.game.seat_to_act(state) == 1 - self.seat:
            sign = 1 if self.seat == 0 else -1
            replies = [reply for reply in self.oracle.actions(state, within_seconds) if reply.worth.outcome is outcome]
            yield from (reply.action for reply in sorted(replies, key=lambda reply: sign * (reply.worth.margin or 0)))


def leads_of(game: Game[Any], state: Any) -> tuple[float, list[float]]:
    """Return how far ahead the seat to act is by the scores, and would be after each legal action."""
    sign = 1 if game.seat_to_act(state) == 0 else -1
    states = [state, *(game.apply(state, action) for action in game.legal_actions(state))]
    now, *after = (sign * (first - second) for first, second in map(game.scores, states))
    return now, after


def theme_of(now: float, leads: list[float], solution: int) -> Theme:
    """Return the first theme that holds, by how far ahead the seat is now, and would be after each action."""
    if leads[solution] < now:
        return Theme.SACRIFICE
    if leads[solution] < max(leads):
        return Theme.GREED_FAILS
    return Theme.QUIET if leads[solution] == now else Theme.GAIN


# The puzzles of matches.

MAX_MISSES = 20
"""The most misses that a puzzle names."""

LINES = 16
"""Random lines of play by which the difficulty is estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPuzzles:
    """Puzzles from easy to hard, of ``found`` in all; positions are counted up to symmetry."""

    puzzles: tuple[Puzzle, ...]
    found: int
    positions: int
    looked_at: int
    unknown: int


def find_puzzles(
    records: Iterable[MatchRecord],
    count: int,
    limits: Limits | None = None,
    within_seconds: float | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> FoundPuzzles:
    """Return at most ``count`` puzzles from matches of games for two, from easy to hard, spread over all difficulties.

    Those with a line of several turns are preferred.
    One question takes at most ``within_seconds``; ``on_progress`` receives the positions searched and all. Errors are
    those of ``decisions_by_position``.
    """
    limits = limits or Limits()
    positions = sorted(decisions_by_position(records).values(), key=_from_the_end)
    judge = _Judge(limits, within_seconds)
    found, unknown, looked_at = list[Puzzle](), 0, 0
    too_early = set[int]()
    for decisions in positions:
        match = decisions[0].record.match
        try:
            limits.check_time()
            if match not in too_early:
                missed = [(one, judge.gives_away(one)) for one in decisions]
                puzzle = judge.puzzle([one for one, is_so in missed if is_so], len(decisions))
                found += [puzzle] if puzzle is not None else []
                too_early |= {match} if any(is_so is None for _, is_so in missed) else set()
        except TimeIsUpError:
            break
        looked_at += 1
        unknown += match in too_early
        on_progress(looked_at, len(positions))
    found.sort(key=_difficulty)
    longer, short = ([one for one in found if bool(one.line) is is_longer] for is_longer in (True, False))
    chosen = sorted([*_spread(longer, count), *_spread(short, count - len(longer))], key=_difficulty)
    return FoundPuzzles(
        puzzles=tuple(chosen), found=len(found), positions=len(positions), looked_at=looked_at, unknown=unknown
    )


def _difficulty(puzzle: Puzzle) -> tuple[float, int, int, int]:
    return puzzle.lines_log2, puzzle.tempting, puzzle.misses[0].match, puzzle.misses[0].ply


def _spread(puzzles: Sequence[Puzzle], count: int) -> Sequence[Puzzle]:
    return [puzzles[number * len(puzzles) // count] for number in range(count)] if len(puzzles) > count else puzzles


def _from_the_end(decisions: Sequence[Decision]) -> tuple[int, int]:
    """Order positions by match, since oracles keep tables, and from its end: before an unknown one all are harder."""
    return decisions[0].record.match, -decisions[0].ply


class _Judge:
    def __init__(self, limits: Limits, within_seconds: float | None) -> None:
        self._limits = limits
        self._within_seconds = within_seconds
        self._oracles: dict[int, Oracle] = {}
        self._signs: dict[Hashable, int | None] = {}

    def gives_away(self, decision: Decision) -> bool | None:
        before, after = (self._sign(decision, state) for state in (decision.state, decision.after))
        win = 1 if decision.game.seat_to_act(decision.state) == 0 else -1
        if before == -win or after == win:
            return False
        return None if before is None or after is None else after != before

    def puzzle(self, missed: Sequence[Decision], met: int) -> Puzzle | None:
        """Return the puzzle of a position; None if nobody missed it, or several actions keep the outcome.

        It is shown as in the first match in which it was missed: in others it may be reflected.
        """
        if not missed:
            return None
        first = missed[0]
        game, state, record = first.game, first.state, first.record
        goal, seat = OUTCOMES[self._sign(first, state) or 0], record.actions[first.ply][0]
        turns = LineFinder(game, self._oracle(first), seat, goal, self._within_seconds).turns(state)
        if not turns:
            return None
        solution = turns[0].solution
        now, leads = leads_of(game, state)
        return Puzzle(
            game=record.game,
            options=dict(record.options),
            actions=tuple(record.actions[: first.ply]),
            seat=seat,
            goal=goal,
            choices=turns[0].choices,
            solution=solution,
            misses=tuple(map(_miss, missed[:MAX_MISSES])),
            missed=len(missed),
            met=met,
            lines_log2=round(lines_log2(game, state, derived_seed("puzzle", record.match, first.ply)), 2),
            tempting=sum(lead >= leads[solution] for lead in leads) - 1,
            line=turns[1:],
            theme=theme_of(now, leads, solution),
        )

    def _sign(self, decision: Decision, state: Any) -> int | None:
        key = (id(decision.game), state)  # states of two games may be equal
        if key not in self._signs:
            outcome = self._oracle(decision).worth(state).outcome
            self._signs[key] = None if outcome is None else SIGNS[outcome]
        return self._signs[key]

    def _oracle(self, decision: Decision) -> Oracle:
        key = id(decision.game)
        if key not in self._oracles:
            game, path = decision.game, decision.record.game
            oracle = self._oracles[key] = Oracle(game, path, self._limits, within_seconds=self._within_seconds)
            oracle.worth(game.initial_state())  # makes the table for all matches, if there can be one
        return self._oracles[key]


def _miss(decision: Decision) -> Miss:
    seat, action = decision.record.actions[decision.ply]
    text = str(decision.game.format_action(action))
    return Miss(bot=decision.record.bots[seat], match=decision.record.match, ply=decision.ply, text=text)


def lines_log2(game: Game[Any], state: Any, rng_seed: int) -> float:
    """Estimate the logarithm to base 2 of the number of lines of play from a state on.

    The product of the numbers of legal actions along a random line estimates the number of all lines (Knuth,
    "Estimating the efficiency of backtrack programs", 1975); this is the mean of several logarithms, which varies less.
    """
    rng = random.Random(rng_seed)
    total = 0.0
    for _ in range(LINES):
        position = state
        for _ in range(MAX_PLIES):
            if game.is_over(position):
                break
            legal = game.legal_actions(position)
            total += log2(len(legal))
            position = game.apply(position, rng.choice(legal))
    return total / LINES
