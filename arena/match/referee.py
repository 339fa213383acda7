"""The referee: plays one match between players, enforces the rules and the clocks, and writes the record.

A bot's fault becomes data here, and nowhere else: whatever a player raises as ``BotError``, and every action the rules
refuse, turns into a ``Fault`` and a forfeit. Our own failures pass through as exceptions, and the match is void. So do
mistakes of the game: before a bot forfeits, the position it was shown is checked.

What a forfeit does: with two players, or in a game that knows no elimination, the match ends at once. Otherwise the
seat is taken out by the rules when it is to act, and the match continues.

A match that reaches its limit of plies ends there, and the seats are ranked by their scores. So does one without a
forfeit whose ranks no legal play can change any more, if its tournament says so.

If it is unknown whether a bot kept its time, the match is void. The third time that happens to the same bot, it
forfeits: a machine does not stall three times in a row just when that bot is to act.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.base.bot_text import BotText
from arena.base.enums import FaultKind, OffTurn
from arena.base.errors import BotError, IllegalActionError, LateError, MatchStateError
from arena.base.live_match import LiveMatch
from arena.base.records import DEFAULT_LIMITS, Fault, MatchRecord, MatchSpec, SeatReport
from arena.base.version import __version__
from arena.games import Game, make_game
from arena.games.checked_game import check_position, checked_game, is_seen_in_frames, mistake_in
from arena.match.players.bot_output import HiddenPaths, shortened_stderr
from arena.match.players.player import Player, SeatClock, build_request
from arena.match.replay import final_ranks, settled_ranks, state_after, termination_of
from arena.protocol.frames import MAX_BYTES_TO_BOT
from arena.protocol.messages import PROTOCOL_VERSION, Request, Seating, shortened

Observer = Callable[[Game[Any], Any, list[Any]], None]
"""Called with the game, the state and the actions so far, after the opening and after each action."""

MAX_LATE_TRIES = 2
"""Tries of a match that may be void because the arena looked late with the same bot to act."""

VERSIONS = {"arena": __version__, "protocol": str(PROTOCOL_VERSION), "python": platform.python_version()}


class Referee:
    """One match."""

    def __init__(
        self,
        spec: MatchSpec,
        players: Sequence[Player],
        isolation: str = "none",
        observer: Observer | None = None,
        before_asking: Callable[[], None] | None = None,
    ) -> None:
        """Prepare the match; ``before_asking`` is called before a player is asked, when no clock runs."""
        self.match = spec.match
        self._spec = spec
        self._players = players
        self._isolation = isolation
        self._observer = observer
        self._before_asking = before_asking
        game = make_game(spec.game, **spec.options)
        self._checked_game = checked_game(game, spec.game)
        self._game = game if is_seen_in_frames(game) else self._checked_game  # which costs time at every ply
        if len(players) != self._game.players:
            raise MatchStateError(f"{len(players)} players for the {self._game.players} seats of {spec.game}")
        self._state: Any = self._checked_game.initial_state()
        self._actions: list[list[Any]] = []
        self._wall: list[float | None] = []
        self._cpu: list[float | None] = []
        self._notes: list[list[Any]] = []
        self._faults: list[Fault] = []
        self._clocks = [SeatClock(spec.time_control_of(seat)) for seat in range(len(players))]
        self._sent_plies = [0] * len(players)  # how many actions each seat has been sent
        self._settled: tuple[int, ...] | None = None
        self._listeners: list[Player] = []  # those that want updates
        self._started_at = _utc(datetime.now(UTC))
        self._question: tuple[int, Request, float] | None = None  # seat, request and when: always replaced as a whole

    def play(self) -> MatchRecord:
        """Play the match from the opening to its end.

        Raises:
            MatchStateError: if the opening is not legal or ends the match: our own mistake.
            VoidMatchError: if the arena itself failed.
            GameError: if the rules of the game are wrong.
        """
        self._play_opening()
        self._seat_everybody()
        try:
            self._play_to_the_end()
        except BaseException as error:
            mistake = mistake_in(error, self._game, self._spec.game, self._state)
            if mistake is None:
                raise
            raise mistake from error
        return self._end()

    @property
    def notes(self) -> tuple[list[Any], ...]:
        """The notes of bots so far: each with the number of actions before it."""
        return tuple(self._notes)

    def live(self) -> LiveMatch:
        """Return the match as it stands. Another thread may call this while the match is played.

        Actions are only ever added, and while a question stands, the bank of no seat changes but of the one that is
        asked.
        """
        while True:
            question = self._question
            banks = [clock.bank_seconds for clock in self._clocks]
            if question is self._question:
                break
        plies, seat, since, allowed_seconds = len(self._cpu), None, self._started_at, None
        if question is not None:
            seat, request, asked = question
            plies, allowed_seconds, banks[seat] = request.ply, request.seconds, request.bank_seconds
            since = _utc(datetime.now(UTC) - timedelta(seconds=time.perf_counter() - asked))
        return LiveMatch(
            match=self.match,
            started_at=self._started_at,
            actions=tuple(self._actions[:plies]),
            wall_seconds=tuple(self._wall[:plies]),
            cpu_seconds=tuple(self._cpu[:plies]),
            faults=tuple(self._faults),
            seat=seat,
            since=since,
            allowed_seconds=allowed_seconds,
            bank_seconds=tuple(banks),
        )

    def _play_to_the_end(self) -> None:
        seats, ply_limit = range(len(self._players)), self._spec.ply_limit
        while (seat := self._game.seat_to_act(self._state)) is not None and len(self._actions) < ply_limit:
            if type(seat) is not int or seat not in seats:
                self._checked_game.seat_to_act(self._state)
            if self._faults:
                if not self._continues_without_forfeited():
                    break
                if any(fault.seat == seat for fault in self._faults):
                    self._withdraw(seat)
                    continue
            elif self._spec.ends_settled and (ranks := self._settled_ranks()) is not None:
                self._settled = ranks
                break
            self._ask_for_action(seat)

    def _settled_ranks(self) -> tuple[int, ...] | None:
        return settled_ranks(self._checked_game, self._state, self._spec.ply_limit - len(self._actions))

    def _play_opening(self) -> None:
        for action in self._spec.opening_actions:
            seat = self._checked_game.seat_to_act(self._state)
            try:
                self._state = state_after(self._checked_game, self._state, action)
            except IllegalActionError as error:
                raise MatchStateError(f"opening {self._spec.opening}: {error}") from error
            self._note_action(seat, action, None, None)
        if self._checked_game.is_over(self._state):
            raise MatchStateError(f"opening {self._spec.opening} ends the match")
        self._send_updates()

    def _seat_everybody(self) -> None:
        for seat, player in enumerate(self._players):
            seating = Seating(
                self._spec.match,
                self._spec.game,
                self._game.options,
                self._game.players,
                seat,
                self._spec.rng_seed,
                self._spec.time_control_of(seat),
                self._spec.ply_limit,
            )
            try:
                player.begin(seating)
            except BotError as error:
                self._forfeit(seat, error.kind, error.detail)
            except LateError as error:
                self._forfeit(seat, FaultKind.START, self._late_again(seat, error))
        self._listeners = [player for player in self._players if player.wants.updates]

    def _continues_without_forfeited(self) -> bool:
        return self._game.players > 2 and self._checked_game.withdraw(self._state) is not None

    def _withdraw(self, seat: int) -> None:
        self._state = self._checked_game.withdraw(self._state)
        self._note_action(seat, None, None, None)
        self._send_updates()

    def _ask_for_action(self, seat: int) -> None:
        clock = self._clocks[seat]
        player = self._players[seat]
        ply = len(self._actions)
        since = self._actions[self._sent_plies[seat] :]
        self._sent_plies[seat] = ply
        try:
            request = build_request(self._checked_game, self._state, player.wants, clock, ply, since)
            self._question = seat, request, time.perf_counter()
            if self._before_asking is not None:
                self._before_asking()
            answer = player.ask(request)
            action = answer.action
            self._state = self._game.apply(self._state, action)
        except BotError as error:
            self._check_position()
            self._forfeit(seat, error.kind, error.detail)
            return
        except LateError as error:
            self._forfeit(seat, FaultKind.TIMEOUT, self._late_again(seat, error))
            return
        except MatchStateError:
            self._check_position()
            raise
        except IllegalActionError as error:
            self._check_position()
            self._forfeit(seat, FaultKind.ILLEGAL, f"{shortened(action)}: {error.reason}")
            return
        clock.charge(answer.wall_seconds if answer.charged_seconds is None else answer.charged_seconds)
        if answer.note is not None:
            self._notes.append([ply, answer.note])
        self._note_action(seat, action, answer.wall_seconds, answer.cpu_seconds)
        self._send_updates()

    def _check_position(self) -> None:
        """Raise GameError if it is the game's fault that a player could not be asked or gave an invalid answer."""
        check_position(self._checked_game, self._state, MAX_BYTES_TO_BOT, DEFAULT_LIMITS.message_depth - 1)

    def _late_again(self, seat: int, error: LateError) -> str:
        """Return the detail of the fault if the same bot was to act in every try; else raise the error again.

        Where bots may work off turn, another bot may be the cause.
        """
        may_be_anothers = error.is_disturbed or self._spec.time_control.off_turn == OffTurn.RUN
        if may_be_anothers or self._spec.void_tries.count(seat) < MAX_LATE_TRIES:
            error.seat = None if error.is_disturbed else seat
            raise error
        return f"{error}, for the third time in this match while this bot was to act"

    def _note_action(self, seat: int | None, action: Any, wall: float | None, cpu: float | None) -> None:
        self._actions.append([seat, action])
        self._wall.append(wall)
        self._cpu.append(cpu)

    def _send_updates(self) -> None:
        for player in self._listeners:
            player.tell_update(len(self._actions), self._actions[-1:])
        if self._observer is not None:
            self._observer(self._checked_game, self._state, self._actions)

    def _forfeit(self, seat: int, kind: FaultKind, detail: str) -> None:
        fault = Fault(seat=seat, kind=kind, ply=len(self._actions), detail=BotText(self._without_paths(detail)))
        self._faults.append(fault)
        self._players[seat].tell_fault(fault)

    def _end(self) -> MatchRecord:
        self._question = None
        scores = list(self._checked_game.scores(self._state))
        ranks = list(
            self._settled or final_ranks(self._checked_game, self._state, [fault.seat for fault in self._faults])
        )
        termination = termination_of(self._checked_game, self._state, bool(self._faults))
        reports = [player.end(ranks, scores, termination, self._faults) for player in self._players]
        spec = self._spec
        return MatchRecord(
            match=spec.match,
            tournament=spec.tournament,
            game=spec.game,
            options=self._game.options,
            bots=tuple(bot.label for bot in spec.bots),
            rng_seed=spec.rng_seed,
            encounter=spec.encounter,
            opening=spec.opening,
            opening_plies=len(spec.opening_actions),
            actions=tuple(self._actions),
            scores=tuple(scores),
            ranks=tuple(ranks),
            termination=termination,
            faults=tuple(self._faults),
            wall_seconds=tuple(self._wall),
            cpu_seconds=tuple(self._cpu),
            seats=tuple(
                replace(report, wall_seconds=wall_seconds, stderr=self._kept_stderr(report))
                for wall_seconds, report in zip(self._wall_seconds(), reports, strict=True)
            ),
            notes=BotText(tuple(self._notes)),
            time_control=spec.time_control,
            isolation=self._isolation,
            ply_limit=spec.ply_limit,
            versions=VERSIONS,
            started_at=self._started_at,
            time_controls=spec.time_controls,
            settled_ply=None if self._settled is None else len(self._actions),
        )

    def _kept_stderr(self, report: SeatReport) -> BotText[str]:
        """Return what the record keeps of a bot's stderr: less of it where nothing went wrong."""
        if not report.stderr:
            return report.stderr
        text = self._without_paths(report.stderr.for_operator())
        return BotText(text if self._faults else shortened_stderr(text))

    def _without_paths(self, text: str) -> str:
        return HiddenPaths(self._spec.bots).removed(text) if "/" in text else text

    def _wall_seconds(self) -> list[float]:
        used: list[float] = [0] * len(self._players)
        for (seat, _), seconds in zip(self._actions, self._wall, strict=True):
            used[seat] += seconds or 0.0
        return used


def _utc(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds")
