"""Lets a bot act in positions of its own matches and in random ones, and compares with the exact values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from arena.errors import UsageError
from arena.executors import Job, Played, WorkQueue, open_executor
from arena.games import Game
from arena.lab.limits import Limits, free_memory_bytes
from arena.lab.oracle import Oracle
from arena.lab.positions import rules_of
from arena.lab.strength.decisions import Decision, decision_of
from arena.lab.strength.strength import Strength, strength_of
from arena.match.replay import states_of
from arena.players.diagnosis import uses_botkit
from arena.players.game_location import check_readable_game
from arena.records import DEFAULT_PLY_LIMIT, Bot, MatchRecord, MatchSpec, TimeControl
from arena.seeds import derived_seed, pick_below
from arena.tournament.openings import openings

QUESTION_SECONDS = 10.0
"""How long the oracle may take for one position."""

MAX_TRIES = 3
"""Of a match that is void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """In which positions a bot is to act.

    Attributes:
        matches: that it plays against itself.
        opening_plies: random actions at the beginning of each of them.
        positions: random positions, in each of which it acts once.
        rng_seed: all randomness follows from it.
        time_control: the time rules.
    """

    matches: int = 20
    opening_plies: int = 2
    positions: int = 100
    rng_seed: int = 0
    time_control: TimeControl = field(default_factory=TimeControl)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotStrength:
    """How much of the exact value a bot keeps.

    Attributes:
        bot: ``name@version``.
        own: in positions of its own matches.
        random: in random positions.
        failed: matches in which it had a fault.
        void: matches without a record, because the arena failed.
    """

    bot: str
    own: Strength
    random: Strength
    failed: int
    void: int


class Measuring:
    """Measures bots in one game; what its oracle has learned serves all of them.

    Attributes:
        game: the rules.
    """

    def __init__(self, game: str, options: dict[str, Any], plan: Plan) -> None:
        """Prepare to measure.

        Args:
            game: the game's name or dotted path.
            options: the values of its options.
            plan: in which positions.

        Raises:
            UsageError: if the game is not for two.
        """
        self._path, self._plan = game, plan
        self.game = rules_of(game, options)
        limits = Limits(memory_bytes=free_memory_bytes())
        self._oracle = Oracle(self.game, game, limits, within_seconds=QUESTION_SECONDS)
        drawn = openings(self.game, plan.opening_plies, plan.rng_seed)
        self._openings = list(islice(drawn, plan.matches))
        self._positions = [_random_position(self.game, (plan.rng_seed, number)) for number in range(plan.positions)]

    def check_plays(self, bot: Bot) -> None:
        """Raise UsageError if a bot does not play the game, or GameError if it could not read its rules."""
        if bot.games and self._path not in bot.games:
            raise UsageError(f"bot {bot.label!r} does not play {self._path}; it plays {', '.join(bot.games)}")
        if uses_botkit(bot):
            check_readable_game(self._path)

    def measure(self, bot: Bot, job: Job) -> BotStrength:
        """Return how much of the exact value a bot keeps.

        Args:
            bot: the bot.
            job: under which conditions it plays.

        Raises:
            UsageError: if the bot does not play the game, or can't be built.
            GameError: if the rules of the game are wrong.
        """
        self.check_plays(bot)
        own = [self._spec(bot, number, opening) for number, opening in enumerate(self._openings, 1)]
        random = [
            self._spec(bot, number, position, len(position) + 1)
            for number, position in enumerate(self._positions, len(own) + 1)
        ]
        found: dict[int, list[Decision]] = {}
        failed = void = 0
        for match, record in _played([*own, *random], job):
            void += record is None
            if record is not None:
                failed += bool(record.faults)
                found[match] = list(self._decisions(record))
        return BotStrength(
            bot=bot.label,
            own=strength_of([found[spec.match] for spec in own if spec.match in found]),
            random=strength_of([found[spec.match] for spec in random if spec.match in found]),
            failed=failed,
            void=void,
        )

    def _spec(self, bot: Bot, number: int, opening: tuple[Any, ...], ply_limit: int = DEFAULT_PLY_LIMIT) -> MatchSpec:
        return MatchSpec(
            match=number,
            tournament="",
            game=self._path,
            options=self.game.options,
            bots=(bot, bot),
            rng_seed=derived_seed("strength", "match", self._plan.rng_seed, number),
            opening=0,
            opening_actions=opening,
            time_control=self._plan.time_control,
            ply_limit=ply_limit,
        )

    def _decisions(self, record: MatchRecord) -> Iterator[Decision]:
        """Yield the decisions of a match, the last one first: before one that is not known, the oracle is not asked."""
        states = [state for _, state in states_of(record)]
        is_known = True
        for ply in reversed(range(record.opening_plies, len(record.actions))):
            decision = Decision(is_known=False)
            if is_known:
                decision = decision_of(self.game, self._oracle, states[ply], record.actions[ply][1])
                is_known = decision.is_known
            yield decision


def _random_position(game: Game[Any], seed: tuple[object, ...]) -> tuple[Any, ...]:
    """Return the actions that lead to a position of a random match, as likely at any of its plies."""
    state = game.initial_state()
    actions: list[Any] = []
    while not game.is_over(state):
        legal = game.legal_actions(state)
        actions.append(legal[pick_below(len(legal), "strength", *seed, len(actions))])
        state = game.apply(state, actions[-1])
    return tuple(actions[: pick_below(len(actions), "strength", "ply", *seed)])


def _played(specs: list[MatchSpec], job: Job) -> Iterator[tuple[int, MatchRecord | None]]:
    """Yield each match with its record, or None if it was void again and again.

    Raises:
        GameError: if the rules of the game are wrong.
    """
    tries = dict.fromkeys((spec.match for spec in specs), 0)
    queue = WorkQueue(specs)
    with open_executor("local", job) as executor:
        for results in executor.run(queue):
            for result in results:
                if isinstance(result, Played):
                    queue.done(result.match)
                    yield result.match, MatchRecord.from_json(json.loads(result.row.record))
                elif result.game_error is not None:
                    raise result.game_error
                elif tries[result.match] + 1 < MAX_TRIES:
                    tries[result.match] += 1
                    queue.requeue(result.spec)
                else:
                    queue.done(result.match)
                    yield result.match, None
