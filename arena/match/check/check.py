"""The steps of ``arena check``, each tried on the bot itself as a tournament would.

The bot plays against an opponent inside the arena's own process that draws its actions from a seed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.base.bot_text import BotText
from arena.base.definition import GameChoice
from arena.base.enums import FaultKind, Termination
from arena.base.errors import ArenaError, BotDefinitionError, BotError, LateError, UnknownNameError
from arena.base.machine import HAS_PROC, available_cores, run_on
from arena.base.records import (
    DEFAULT_LIMITS,
    DEFAULT_PLY_LIMIT,
    MEBIBYTE,
    Bot,
    Fault,
    Limits,
    MatchRecord,
    SeatReport,
    TimeControl,
)
from arena.base.text import counted
from arena.games import GAMES, find_game, make_game
from arena.match.check.tried_bot import TriedBot, bounds_of, invalid_options, options_text
from arena.match.players.bot_output import STARVED, TranscriptFrame
from arena.match.players.building import build_bots
from arena.match.players.diagnosis import Failure, hint_for, last_cpu_seconds
from arena.match.players.manifest import claims_problem
from arena.match.players.subprocess import Subprocess
from arena.sandbox.isolation.interpreters import own_program
from arena.sandbox.isolation.sandbox_policy import Isolation

BUSY_PROGRAMS = 2
"""How many programs share the bot's core while its time behaviour is tried."""

BESIDE_BUSY_PROGRAMS = (
    "this step keeps the core busy, as on a busy machine: decide when to answer by the clock on the wall"
    " (with arena.botkit the third argument of choose, else the seconds in act), not by CPU time or an amount of work"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a check; ``sent`` is the last question before it failed, ``before`` the messages before that."""

    name: str
    is_passed: bool
    detail: str
    hint: str = ""
    sent: bytes = b""
    received: bytes = b""
    stderr: str = ""
    before: tuple[TranscriptFrame, ...] = ()


def check_bot(
    bot: Bot,
    isolation: Isolation,
    time_control: TimeControl,
    games: tuple[str, ...] = (),
    limits: Limits = DEFAULT_LIMITS,
    choices: Sequence[GameChoice] = (),
    openings: Sequence[Sequence[Any]] = (),
    ply_limit: int = DEFAULT_PLY_LIMIT,
) -> Iterator[Step]:
    """Try a bot, step by step, by default in the games it claims, or all.

    Args:
        choices: games with the options of a tournament: only these are tried, and no other options.
        openings: the actions with which matches of each choice begin.
        ply_limit: a match ends after this many actions.
    """
    for choice in choices:
        problem = claims_problem(bot, choice.game)
        if problem is not None:
            raise BotDefinitionError(f"bot {bot.label!r} {problem}")
    games = tuple(choice.game for choice in choices) or games
    for game in () if games else bot.games:
        check_claimed_game(bot, game, "arena check")
    claimed = games or bot.games or tuple(GAMES)
    for game in claimed:
        find_game(game)
    build_bots([bot], isolation)
    options = choices[0].options if choices else {}
    tried = TriedBot(bot, isolation, limits, time_control, ply_limit)
    checker = _Checker(bot, claimed[0], options, next(iter(openings), ()), tried)
    try:
        start = checker.start()
        yield start
        if not start.is_passed:
            return
        for number, choice in enumerate(choices):
            yield from checker.play_choice(choice, openings[number] if openings else ())
        for game in () if choices else claimed:
            yield from checker.play_game(game)
        yield checker.reuse()
        yield checker.under_load()
        yield checker.limits_kept()
        yield checker.quit()
    finally:
        checker.close()


def check_claimed_game(bot: Bot, game: str, command: str) -> None:
    """Raise BotDefinitionError for a game that is unknown or from outside the package, a program that no bot loads."""
    if ":" in game:
        raise BotDefinitionError(
            f"{bot.label}: games: {game!r} is an external game, which the arena loads only if you name it:"
            f" {command} … --game {game}"
        )
    if game not in GAMES:
        raise BotDefinitionError(f"{bot.label}: games: {UnknownNameError('game', game, GAMES)}")


@dataclass
class _Checker:
    bot: Bot
    game: str
    options: Mapping[str, Any]
    opening: Sequence[Any]
    tried: TriedBot

    def __post_init__(self) -> None:
        self._player = self.tried.player
        self._limit_step: Step | None = None  # the first step in which a limit was broken

    def close(self) -> None:
        self._player.close()

    def start(self) -> Step:
        name = "starts and says ready"
        try:
            self.tried.begin(self.game, self.options)
        except LateError:
            raise
        except ArenaError as error:
            kind, detail = getattr(error, "kind", FaultKind.START), getattr(error, "detail", str(error))
            fault = Fault(seat=0, kind=kind, ply=0, detail=BotText(detail))
            self._player.tell_fault(fault)
            report = self._player.end((), (), Termination.FORFEIT, (fault,))
            cpu_seconds = report.cpu_seconds + report.off_turn_cpu_seconds
            return self._failed(name, fault, report, cpu_seconds, self.tried.time_control.startup_seconds)
        ready = self._player.ready
        label = " ".join(part for part in (ready.name, ready.version) if part) or self.bot.label
        wants = ", ".join(part for part, on in ready.wants._asdict().items() if on) or "nothing"
        return Step(name, True, f"{label}; wants {wants}")

    def play_choice(self, choice: GameChoice, opening: Sequence[Any]) -> Iterator[Step]:
        shown = f" with {options_text(choice.options)}" if choice.options else ""
        for seat in range(choice.players):
            name = f"plays {choice.game}{shown} in seat {seat}"
            yield self._try(name, choice.game, choice.options, seat, opening)

    def play_game(self, game: str) -> Iterator[Step]:
        for seat in range(make_game(game).players):
            yield self._try(f"plays {game} in seat {seat}", game, {}, seat)
        for options in invalid_options(game):
            shown = options_text(options)
            for seat in range(make_game(game, **options).players):
                yield self._try(f"plays {game} with {shown} in seat {seat}", game, options, seat)

        yield self._play_at_bounds(game)

    def _play_at_bounds(self, game: str) -> Step:
        bounds = bounds_of(game)
        longest = 0.0
        for number, options in enumerate(bounds.tried):
            seat = number % make_game(game, **options).players
            record = self.tried.play(game, options, seat)
            if record.faults:
                return self._failed_in(record, seat, f"plays {game} with {options_text(options)} in seat {seat}")
            longest = max(longest, _longest_seconds(record, seat))
        tried = "; ".join(map(options_text, bounds.tried)) or "none besides"
        left_out = "; ".join(map(options_text, bounds.left_out))
        detail = f"{tried}, longest action {1000 * longest:.1f} ms" + (
            f"; left out as too long: {left_out}" if left_out else ""
        )
        return Step(f"plays {game} with its options at their bounds", True, detail)

    def reuse(self) -> Step:
        name = "plays match after match with one process"
        records = [self.tried.play(self.game, self.options, 0, 11, self.opening) for _ in range(2)]
        for record in records:
            if record.faults:
                return self._failed_in(record, 0, name)
        same = records[0].actions == records[1].actions
        comparison = (
            "the same actions from the same seed" if same else "other actions from the same seed: not reproducible"
        )
        return Step(name, True, f"{counted(self.tried.matches, 'match')} so far; {comparison}")

    def under_load(self) -> Step:
        """Play while other programs use up the processor."""
        name = f"keeps its time beside {BUSY_PROGRAMS} busy programs on its core"
        busy = own_program("arena.match.check.busy_bot", "-I", "-S")
        cores = available_cores()
        self._player.close()
        run_on({min(cores)})
        try:
            with contextlib.ExitStack() as stack:
                for _ in range(BUSY_PROGRAMS):
                    stack.enter_context(Subprocess(busy, self.tried.isolation, self.tried.limits))
                record = self.tried.play(self.game, self.options, 0, opening=self.opening)
        finally:
            run_on(cores)
        if record.faults:
            step = self._failed_in(record, 0, name)
            return replace(step, hint=BESIDE_BUSY_PROGRAMS) if STARVED in step.detail else step
        return Step(name, True, _longest(record, 0))

    def limits_kept(self) -> Step:
        """End the bot and report its peak usage; it is launched again first if its last match ended in a fault."""
        name = "stays inside its limits"
        with contextlib.suppress(BotError):
            self.tried.begin(self.game, self.options)
        self._player.close()
        if self._limit_step is not None:
            return replace(self._limit_step, name=name)
        if not HAS_PROC:
            return Step(name, True, "not measured, as this system does not show what a process uses")
        peak, limits = self._player.peak, self.tried.limits
        used = (
            f"{peak.memory_bytes / MEBIBYTE:.0f} of {limits.memory_bytes / MEBIBYTE:.0f} MiB of memory,"
            f" {peak.processes} of {limits.processes} processes and threads,"
            f" {peak.open_files} of {limits.open_files} open files"
        )
        return Step(name, True, used)

    def quit(self) -> Step:
        name = "leaves when it is told to quit"
        if self.tried.leaves(self.game, self.options):
            return Step(name, True, "within half a second")
        return Step(
            name, False, "it had to be killed after half a second", "end the program on quit, and when its input ends"
        )

    def _try(self, name: str, game: str, options: Mapping[str, Any], seat: int, opening: Sequence[Any] = ()) -> Step:
        record = self.tried.play(game, options, seat, opening=opening)
        if record.faults:
            return self._failed_in(record, seat, name)
        return Step(name, True, f"{counted(len(record.actions), 'ply')}, {_longest(record, seat)}")

    def _failed_in(self, record: MatchRecord, seat: int, name: str) -> Step:
        control, report = self.tried.time_control, record.seats[seat]
        waited_seconds = (control.per_action_seconds or 0.0) + control.margin_seconds
        return self._failed(name, record.faults[0], report, last_cpu_seconds(record, seat), waited_seconds)

    def _failed(self, name: str, fault: Fault, report: SeatReport, cpu_seconds: float, waited_seconds: float) -> Step:
        transcript = self._player.transcript
        sent, received = transcript.last_exchange()
        has_waited = fault.kind == FaultKind.TIMEOUT or "within" in fault.detail
        stderr = report.stderr.for_operator()
        failure = Failure(
            self.bot, fault, stderr, received, cpu_seconds, waited_seconds if has_waited else None, self.game
        )
        where = "" if fault.kind == FaultKind.START else f" at ply {fault.ply}"
        detail = f"{fault.kind} fault{where}: {fault.detail.for_operator()}"
        if has_waited:
            detail += f" (CPU time {cpu_seconds:.2f} s)"
        step = Step(
            name=name,
            is_passed=False,
            detail=detail,
            hint=hint_for(failure),
            sent=sent,
            received=received,
            stderr=stderr,
            before=tuple(transcript.before_last_exchange()),
        )
        if fault.kind == FaultKind.LIMIT and self._limit_step is None:
            self._limit_step = step
        return step


def _longest(record: MatchRecord, seat: int) -> str:
    return f"longest action {1000 * _longest_seconds(record, seat):.1f} ms"


def _longest_seconds(record: MatchRecord, seat: int) -> float:
    pairs = zip(record.actions, record.wall_seconds, strict=True)
    return max((seconds or 0.0 for (actor, _), seconds in pairs if actor == seat), default=0.0)
