"""Submitting a bot: it is copied, tried out where it will run, and listed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.base.enums import FaultKind
from arena.base.errors import BotDefinitionError, UsageError
from arena.base.machine import available_cores
from arena.base.records import Bot, TimeControl
from arena.base.seat_report import Fault
from arena.base.shipped import bot_path
from arena.base.text import counted
from arena.games import GAMES, make_game
from arena.match.check.check import check_claimed_game
from arena.match.players.bot_files import describe_left_out
from arena.match.players.diagnosis import Failure, hint_for, last_cpu_seconds
from arena.match.players.manifest import resolved_bot_path
from arena.match.single_match import play_match
from arena.match.uploads.unpacking import opened_bot
from arena.store.home import ArenaHome
from arena.store.people.values import HINT, is_timeout

TRIAL_TIME = TimeControl(per_action_seconds=1.0)


@dataclass(frozen=True, slots=True)
class Submission:
    """The result of a submission.

    Attributes:
        bot: as it runs from the arena's own copy.
        is_old: whether it had been submitted before.
        refusal: why it was rejected; None if it was accepted.
        stderr: of the bot in the match that failed.
        hint: how to fix it; empty if it was accepted.
    """

    bot: Bot
    is_old: bool = False
    refusal: str | None = None
    stderr: str = ""
    hint: str = ""

    @property
    def facts(self) -> tuple[str, ...]:
        """What the author of a rejected bot reads after its stderr, in lines; the site shows the last as the hint."""
        return () if self.refusal is None else (f"{HINT}{self.hint}",)


def submit(
    home: ArenaHome,
    path: str | os.PathLike[str],
    listener: Callable[[str], None] = lambda text: None,
    external_games: Sequence[str] = (),
    before_trial: Callable[[Bot], None] = lambda bot: None,
    before_listing: Callable[[Bot], None] = lambda bot: None,
) -> Submission:
    """Copy a bot, play one match of each claimed game against itself, and list it if all goes well.

    Args:
        home: the arena's directory.
        path: the bot, an archive with a bot, or ``arena:NAME``.
        listener: called with each step.
        external_games: games from outside the package that may be loaded when the bot claims them.
        before_trial: called with the copied bot before its first match; it may raise UsageError.
        before_listing: called with the bot when it has passed; it may raise UsageError.

    Raises:
        UploadError: if an archive is not accepted.
        UsageError: if there is no bot at ``path``, it claims a game that may not be loaded, or its name and version are
            taken by other files.
    """
    with opened_bot(path, listener) as opened:
        bot = home.bots.copy_in(opened)
        for sentence in describe_left_out(resolved_bot_path(bot_path(opened))):
            listener(sentence)
    try:
        before_trial(bot)
        if home.bots.is_submitted(bot):
            return Submission(bot, is_old=True)
        rejection = _try_out(bot, listener, external_games)
        if rejection is None:
            before_listing(bot)
    except BaseException:
        home.bots.discard(bot)
        raise
    if rejection is not None:
        home.bots.discard(bot)
        return rejection
    home.bots.add(bot)
    return Submission(bot)


def _try_out(bot: Bot, listener: Callable[[str], None], external_games: Sequence[str]) -> Submission | None:
    for name in dict.fromkeys(bot.games or GAMES):
        if name not in GAMES and name not in external_games:
            check_claimed_game(bot, name, "arena submit")
        try:
            players = make_game(name).players
        except UsageError as error:
            raise BotDefinitionError(f"{bot.label}: games: {error}") from error
        record = play_match(name, [bot] * players, time_control=TRIAL_TIME)
        if record.faults and is_timeout(_reason(bot, name, record.faults[0])) and _is_machine_busy():
            listener(f"{name}: it took too long, but the machine is busy with other work, so it is tried once more")
            record = play_match(name, [bot] * players, time_control=TRIAL_TIME)
        if record.faults:
            fault = record.faults[0]
            reason = _reason(bot, name, fault)
            stderr = record.seats[fault.seat].stderr.for_operator()
            failure = Failure(
                bot,
                fault,
                stderr,
                cpu_seconds=last_cpu_seconds(record, fault.seat),
                waited_seconds=TRIAL_TIME.per_action_seconds if fault.kind == FaultKind.TIMEOUT else None,
                is_submitted=True,
            )
            return Submission(bot, refusal=reason, stderr=stderr, hint=hint_for(failure))
        listener(f"{name}: a match of {counted(len(record.actions), 'action')} against itself, without a fault")
    return None


def _reason(bot: Bot, game: str, fault: Fault) -> str:
    return f"{bot.label} is rejected: in {game} at ply {fault.ply}: {fault.kind}: {fault.detail.for_operator()}"


def _is_machine_busy() -> bool:
    """Return whether as many processes want to run as there are cores: a bot may be slow by no fault of its own."""
    return os.getloadavg()[0] >= len(available_cores())
