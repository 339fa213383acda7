"""One unrated match while it is being played: the rules, the bot, and the requests of the person.

The usual referee plays it. After an action was taken back or a process was killed, a new match resumes it with the
actions so far as its opening, so bots notice nothing.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from arena.base.bot_text import EVERYBODY, BotText
from arena.base.enums import ClockKind, FaultKind, Termination
from arena.base.errors import (
    ArenaError,
    BotError,
    DatabaseError,
    GameError,
    IllegalActionError,
    OptionError,
    UnknownNameError,
    VoidMatchError,
)
from arena.base.programs.service_program import TerminatedError, end_now, run_service
from arena.base.records import Bot, Fault, MatchRecord, MatchSpec, TimeControl
from arena.base.shipped import PREFIX, bot_path
from arena.community.play.view import PERSON_NAME, Played, view_of
from arena.games import Game, make_game
from arena.lab.matches.annotating import Annotator
from arena.lab.matches.annotation import Annotation, is_analysed_here
from arena.lab.solving.limits import Limits
from arena.match.bot_pool import BotPool
from arena.match.players.building import build_bots
from arena.match.players.function_player import OutOfTimeError, call_within
from arena.match.players.manifest import load_bot
from arena.match.players.player import (
    HUMAN,
    HumanPlayer,
    LeftMatchError,
    TakenBackError,
    kept_after_undo,
    read_action,
    wall_limit_seconds,
)
from arena.match.single_match import ask_bot
from arena.protocol.messages import Request
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.site.matches.playing_model import MAX_SEATS, SEATS
from arena.store.bot_registry import BotRegistry
from arena.store.home import ArenaHome, open_people
from arena.store.people.unrated_match import (
    CLAIM_SECONDS,
    MatchClaim,
    MatchState,
    PlayRequest,
    Position,
    UnratedMatch,
    hint_sentence,
)
from arena.store.people.unrated_matches import OUR_FAILURE

MAX_PLIES = 1000
LOOK_SECONDS = 0.05
WRITE_SECONDS = 1.0
"""From one position of two bots that is written to the next; all actions are in the last one."""
STARTUP_SECONDS = 30.0
"""Of the bot: what is played here has the lowest priority, and starting is not counted in CPU time."""
RULES_SECONDS = 10.0
"""Of the rules, for a position and its board."""
SPARE_SECONDS = 10.0
ANALYSIS_SECONDS = 2.0
"""For what the actions of a match lost, once it is over."""
ANALYSIS_BYTES = 256 * 2**20
MAX_VIEW_CHARACTERS = 500_000
MAX_REASON_CHARACTERS = 500

ResultT = TypeVar("ResultT")

_log = logging.getLogger("arena.community.play")


class Slot:
    """A match in progress; ``busy_until`` is the deadline of the present step, None during the person's turn."""

    def __init__(self, claim: MatchClaim, match: UnratedMatch, bots: BotRegistry, isolation: Isolation) -> None:
        self.busy_until: float | None = None
        self._claim, self._bots, self._isolation = claim, bots, isolation
        self._choices, self._digest = match.choices, match.bot_digest
        self._person = match.choices.seat
        self._options: dict[str, Any] = json.loads(match.choices.options)
        self._actions = [Played(*fields) for fields in json.loads(match.position.actions)]
        seconds = match.choices.per_action_milliseconds / 1000
        self._control = TimeControl(per_action_seconds=seconds, startup_seconds=STARTUP_SECONDS, clock=ClockKind.CPU)
        self._pool = BotPool(isolation)
        self._state: Any = None
        self._is_resumed = True
        self._challenger: Bot | None = None
        self._written_at = float("-inf")

    def play(self) -> None:
        """Play until the match is over, its person has left, or the claim is lost."""
        self._set_deadline()
        try:
            with self._pool:
                self._play()
        except LeftMatchError:
            self._claim.release()
        except VoidMatchError:
            _log.exception("unrated match %d: void", self._claim.number)
            self._claim.release(has_failed=True)
        except OptionError as error:
            self._claim.end(
                MatchState.OVER, f"The game can't be played with these options: {error}"[:MAX_REASON_CHARACTERS]
            )
        except (GameError, _CannotContinueError) as error:
            self._claim.end(MatchState.FAILED, str(error)[:MAX_REASON_CHARACTERS])
        except (ArenaError, OSError):
            _log.exception("unrated match %d", self._claim.number)
            self._claim.end(MatchState.FAILED, OUR_FAILURE)

    def _set_deadline(self) -> None:
        seconds = self._control.per_action_seconds or 0.0
        turn_seconds = MAX_SEATS * self._control.startup_seconds + wall_limit_seconds(seconds)
        self.busy_until = time.monotonic() + RULES_SECONDS + turn_seconds + SPARE_SECONDS

    def _play(self) -> None:
        self._game = self._within_time(lambda: make_game(self._choices.game, **self._options))
        if not self._person < self._game.players <= MAX_SEATS:
            raise _CannotContinueError(f"Only matches of two to {MAX_SEATS} seats can be played here.")
        self._bot = self._find_bot()
        if self._choices.challenger:
            self._challenger = self._load_named_bot(self._choices.challenger)
        seats = range(self._game.players)
        self._names = [f"{self._bot.label} (seat {seat})" if len(seats) > SEATS else self._bot.label for seat in seats]
        self._names[self._person] = self._challenger.label if self._challenger else PERSON_NAME
        build_bots([self._bot, *([self._challenger] if self._challenger else [])], self._isolation)
        people = {} if self._challenger else {self._person: HumanPlayer(self._ask_person)}
        while True:
            try:
                self._end(self._pool.play(self._spec(), self._observe, people))
                return
            except TakenBackError as undone:
                del self._actions[undone.kept :]

    def _find_bot(self) -> Bot:
        """Return the bot, which must have the same files as when the match began."""
        bot = self._load_named_bot(self._choices.bot)
        if self._digest and bot.digest != self._digest:
            raise _CannotContinueError(f"The files of {bot.label} have changed since this match began.")
        self._digest = bot.digest
        return bot

    def _load_named_bot(self, name: str) -> Bot:
        try:
            return load_bot(bot_path(name)) if name.startswith(PREFIX) else self._bots.find(name)
        except UnknownNameError as error:
            raise _CannotContinueError(f"The bot {name} is not here any more.") from error

    def _spec(self) -> MatchSpec:
        bots = [self._bot] * self._game.players
        bots[self._person] = self._challenger or HUMAN
        return MatchSpec(
            match=1,
            tournament="",
            game=self._choices.game,
            options=self._game.options,
            bots=tuple(bots),
            rng_seed=0,
            opening=0 if self._actions else None,
            opening_actions=tuple(played.action for played in self._actions),
            time_control=self._control,
            ply_limit=MAX_PLIES,
        )

    def _observe(self, game: Game[Any], state: Any, actions: Sequence[Sequence[Any]]) -> None:
        """Note a position, after the opening and after each action; write it while the bot thinks."""
        self._rules, self._state = game, state
        faults = {fault.seat: str(fault.kind) for fault in self._faults_so_far()}
        for seat, action in actions[len(self._actions) :]:
            self._actions.append(Played(seat, action, fault="" if action is not None else faults.get(seat, "")))
        self._set_deadline()
        if self._challenger is not None:
            if time.monotonic() - self._written_at < WRITE_SECONDS:
                return
            self._written_at = time.monotonic()
        is_bots_turn = self._challenger or game.seat_to_act(state) not in (None, self._person)
        if is_bots_turn and len(self._actions) < MAX_PLIES:
            self._write(MatchState.BOT)

    def _faults_so_far(self) -> Sequence[Fault]:
        return self._pool.referee.live().faults if self._pool.referee is not None else ()

    def _end(self, record: MatchRecord) -> None:
        if earlier := self._faults_before(record.opening_plies):
            out = {fault.seat for fault in earlier}
            later = [fault for fault in record.faults if fault.seat not in out]
            record = replace(record, faults=(*earlier, *later), termination=Termination.FORFEIT)
        self._add_seconds_and_notes(record.cpu_seconds, record.notes.for_operator())
        self._write(MatchState.OVER, record, self._annotation(record))

    def _faults_before(self, opening_plies: int) -> list[Fault]:
        """Return the faults of the seats that are out in the opening of a match that was resumed."""
        return [
            Fault(seat=played.seat, kind=FaultKind(played.fault), ply=ply, detail=BotText(""))
            for ply, played in enumerate(self._actions[:opening_plies])
            if played.fault
        ]

    def _annotation(self, record: MatchRecord) -> Annotation | None:
        """Return what the actions of both seats lost; None if two bots played, or the lab does not know the game."""
        if self._challenger or not is_analysed_here(record.game, self._game.players):
            return None
        whole_match = replace(record, opening=None, opening_plies=0)  # a match that was resumed begins with an opening
        limits = Limits(deadline=time.monotonic() + ANALYSIS_SECONDS, memory_bytes=ANALYSIS_BYTES)
        part_seconds = ANALYSIS_SECONDS / 2
        try:
            return call_within(
                RULES_SECONDS,
                lambda: (
                    Annotator(record.game, self._options, limits, part_seconds, prepare_seconds=part_seconds)
                    .annotate(whole_match)
                    .annotation
                ),
            )
        except (ArenaError, OutOfTimeError):
            return None

    def _add_seconds_and_notes(self, cpu_seconds: Sequence[float | None], notes: Sequence[Sequence[Any]]) -> None:
        for ply, note in notes:
            self._actions[ply] = self._actions[ply]._replace(note=note)
        for ply, seconds in enumerate(cpu_seconds):
            if seconds is not None and (self._challenger or self._actions[ply].seat != self._person):
                self._actions[ply] = self._actions[ply]._replace(seconds=round(seconds, 6))

    def _write(
        self, state: MatchState, record: MatchRecord | None = None, annotation: Annotation | None = None
    ) -> None:
        names, choices = self._names, self._choices
        person = None if self._challenger else self._person
        view = self._within_time(
            lambda: view_of(
                choices.game, self._rules, self._state, self._actions, names, person, self._control, record, annotation
            ).model_dump_json()
        )
        if len(view) > MAX_VIEW_CHARACTERS:
            raise GameError(choices.game, "drawing", "returned more than a page can show")
        reason = ""
        if record is not None and record.faults:
            fault = record.faults[0]
            sentence = fault.told_to(EVERYBODY, names[fault.seat])
            reason = f"{names[fault.seat]} forfeits: {sentence} ({fault.kind})"[:MAX_REASON_CHARACTERS]
        position = Position(
            state=state,
            actions=json.dumps(self._actions),
            plies=len(self._actions),
            view=view,
            reason=reason,
        )
        is_held = self._claim.write(position, self._digest, self._is_resumed)
        self._is_resumed = False
        if not is_held:
            raise LeftMatchError("")

    def _within_time(self, work: Callable[[], ResultT]) -> ResultT:
        try:
            return call_within(RULES_SECONDS, work)
        except OutOfTimeError as error:
            raise GameError(self._choices.game, "its methods", f"take longer than {RULES_SECONDS:g} s") from error

    # the requests of the person

    def _ask_person(self, seat: int, request: Request) -> Any:
        if self._pool.referee is not None:
            self._add_seconds_and_notes(self._pool.referee.live().cpu_seconds, self._pool.referee.notes)
        self._write(MatchState.PERSON)
        while True:
            self.busy_until = None
            match = self._claim.read()
            self._set_deadline()
            if match is None:
                raise LeftMatchError("")
            if match.request is PlayRequest.ACT:
                try:
                    return read_action(self._rules, self._state, list(request.legal or ()), match.requested_action)
                except IllegalActionError as error:
                    self._answer(f"{match.requested_action}: {error.reason}")
            elif match.request is PlayRequest.UNDO:
                kept = kept_after_undo(self._actions, seat)
                if kept is not None:
                    raise TakenBackError(kept)
                self._answer("You have no action to take back.")
            elif match.request is PlayRequest.HINT:
                self._answer(self._hint())
            else:
                time.sleep(LOOK_SECONDS)

    def _hint(self) -> str:
        actions = [[played.seat, played.action] for played in self._actions]
        try:
            answer = ask_bot(
                self._bot,
                self._choices.game,
                self._options,
                actions,
                time_control=self._control,
                isolation=self._isolation.level,
            )
        except BotError as error:
            return f"{self._bot.label} has no hint: {error.kind.sentence}."
        except ArenaError:
            _log.exception("unrated match %d: no hint", self._claim.number)
            return f"{self._bot.label} has no hint: {OUR_FAILURE}"
        return hint_sentence(self._bot.label, self._rules.format_action(answer.action))

    def _answer(self, sentence: str) -> None:
        if not self._claim.answer(sentence):
            raise LeftMatchError("")


class _CannotContinueError(ArenaError):
    """A match can't continue, for a reason that the person may know."""


def main(arguments: list[str]) -> None:
    """Continue a match; the arguments are the parent process, the home, the bot's isolation, and the match's number."""
    parent, directory, isolation, number = arguments
    run_service(int(parent), 0, lambda: _play(directory, isolation, int(number)))
    end_now(0)


def _play(directory: str, isolation: str, number: int) -> None:
    with open_people(directory) as people, ArenaHome(directory) as home:
        claim = people.unrated_matches.claim(number)
        match = claim.read() if claim is not None else None
        if claim is None or match is None:
            return
        try:
            slot = Slot(claim, match, home.bots, choose_isolation(isolation))
            threading.Thread(target=_keep_claim, args=(claim, slot), daemon=True).start()
            slot.play()
        except TerminatedError:
            claim.release()  # the next play host continues it at once
            raise


def _keep_claim(claim: MatchClaim, slot: Slot) -> None:
    """Keep the claim. If it is lost, or the rules never return, end this process, and its bot with it."""
    while True:
        time.sleep(CLAIM_SECONDS / 5)
        deadline = slot.busy_until
        try:
            is_kept = claim.keep()
        except DatabaseError:
            continue  # if it lasts, the claim is lost
        if deadline is not None and time.monotonic() > deadline:
            os.kill(os.getpid(), signal.SIGKILL)
        if not is_kept:
            os.kill(os.getpid(), signal.SIGTERM)
