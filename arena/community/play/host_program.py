"""The play host: lets people play against bots in the browser, in a process for each match."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence

from arena.base.errors import ArenaError
from arena.base.programs.service_program import Idleness, ProblemNote, Programs, end_now, keep_trying, run_service
from arena.base.shipped import PREFIX, example_bots
from arena.community.play import slot as slot_program
from arena.community.submissions.upload_directory import can_contain_uploads
from arena.games import GAMES, IntOption, Option, find_game
from arena.match.players.manifest import load_bot
from arena.site.matches.games_model import GameOption
from arena.site.matches.playing_model import MAX_SEATS, PlayableBot, PlayableGame, PlayMenu
from arena.site.matches.positions import MAX_EXTERNAL_GAMES, MAX_TEXT_CHARACTERS, external_games
from arena.store.home import ArenaHome, open_people
from arena.store.people.unrated_match import MENU_SECONDS
from arena.store.people.unrated_matches import UnratedMatches
from arena.store.results.events import Commits
from arena.store.results.values import StoredBot
from arena.tournament.executors.worker_start import available_cores

MAX_SIZE = 20
"""Of a whole number that is chosen in the browser, unless the default is larger."""
MAX_BOTS = 500


class MenuMaker:
    """Makes the menu of games and bots; it reads each bot once. Closed with ``close``."""

    def __init__(self, home: ArenaHome, slots: int, has_submitted_bots: bool) -> None:
        """Prepare; without ``has_submitted_bots``, bots of strangers are not launched here."""
        self._home, self._slots, self._has_submitted_bots = home, slots, has_submitted_bots
        self._examples = tuple(_example(name) for name in example_bots())
        self._playable_bots: dict[StoredBot, PlayableBot | None] = {}
        self._signal, self._signalled = home.store.commit_signal(), ""

    def may_have_changed(self) -> bool:
        """Return whether anything was committed since the last call: a bot may have been accepted."""
        before, self._signalled = self._signalled, self._signal.read()
        return self._signalled != before

    def forget_missing(self) -> None:
        """Let the next menu look again for the files of bots that were missing."""
        self._playable_bots = {bot: playable for bot, playable in self._playable_bots.items() if playable is not None}

    def close(self) -> None:
        """Close what it has opened."""
        self._signal.close()

    def menu(self) -> PlayMenu:
        """Return what can be chosen now."""
        names = (*GAMES, *external_games(self._home)[:MAX_EXTERNAL_GAMES])
        games = tuple(game for game in map(playable_game, names) if game is not None)
        submitted = self._submitted() if self._has_submitted_bots else []
        return PlayMenu(games=games, bots=(*self._examples, *submitted[:MAX_BOTS]), slots=self._slots)

    def _submitted(self) -> list[PlayableBot]:
        latest = {bot.name: bot for bot in self._home.store.submitted_bots()}
        for bot in latest.values():
            if bot not in self._playable_bots:
                self._playable_bots[bot] = self._playable_bot(bot)
        return [playable for bot in latest.values() if (playable := self._playable_bots[bot]) is not None]

    def _playable_bot(self, bot: StoredBot) -> PlayableBot | None:
        try:
            return PlayableBot(name=bot.label, label=bot.label, games=self._home.bots.find(bot.label).games)
        except ArenaError:  # its files are not here now
            return None


def playable_game(name: str) -> PlayableGame | None:
    """Return a game as it can be played; None if its rules are missing, or it has more seats than a match here."""
    try:
        game = find_game(name)
    except ArenaError:
        return None
    seats = next((option for option in game.OPTIONS if option.name == "players"), None)
    if seats is not None and (not isinstance(seats, IntOption) or not 2 <= seats.minimum <= MAX_SEATS):
        return None
    options = tuple(_option(option, is_seats=option is seats) for option in game.OPTIONS)
    return PlayableGame(name=name, summary=game.summary[:MAX_TEXT_CHARACTERS], options=options)


def _option(option: Option, *, is_seats: bool) -> GameOption:
    if not isinstance(option, IntOption):
        return GameOption.of(option, type=option.type_name, value=option.default)
    most = min(option.maximum, MAX_SEATS if is_seats else max(MAX_SIZE, option.default))
    first, accepted = min(option.default, most), f"a whole number from {option.minimum} to {most}"
    kind = option.type_name
    return GameOption.of(option, type=kind, accepted=accepted, value=first, default=first, maximum=most)


def _example(name: str) -> PlayableBot:
    bot = load_bot(example_bots()[name])
    return PlayableBot(name=f"{PREFIX}{name}", label=bot.label, games=bot.games)


# The play host: a process for each unrated match that is being played, and never more than there are slots.

PRUNE_SECONDS = 3600.0
NEWS_SECONDS = 1.0
"""Between two looks at the menu: a ladder may commit all the time."""
SHUTDOWN_SECONDS = 1.5
"""For all matches together: the site waits for this."""


class Host:
    """Starts and ends the processes in which matches are played. To be closed."""

    def __init__(
        self,
        matches: UnratedMatches,
        commits: Commits,
        menu: MenuMaker,
        slots: int,
        arguments: Sequence[str],
        clock: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        """Prepare; the arguments of each process follow its parent, and precede the number of its match."""
        self._clock, self._body = clock, ""
        self._matches, self._commits = matches, commits
        self._menu, self._slots, self._arguments = menu, slots, arguments
        self._programs: Programs[int] = Programs(slot_program.main, SHUTDOWN_SECONDS, clock)
        self._pruned_at = self._menu_at = self._looked_at = float("-inf")

    def step(self) -> None:
        """Update the menu, and start and end processes as needed."""
        self._write_menu()
        for number, code in self._programs.ended():
            if code < 0:  # it was killed before it could release its claim
                self._matches.release_left(number)
        running = self._programs.running
        if not (self._commits.are_new() or running):  # whoever plays may leave a slot to others
            return
        for number in self._matches.waiting():
            if number not in running and len(running) < self._slots:
                self._programs.start(number, [str(os.getpid()), *self._arguments, str(number)])

    @property
    def is_used(self) -> bool:
        """Whether a match is being played."""
        return bool(self._programs.running)

    def _write_menu(self) -> None:
        """Write the menu when it has changed, and at intervals, which shows that the host is running."""
        now = self._clock()
        is_due = now - self._menu_at >= MENU_SECONDS / 12
        if is_due:
            self._menu.forget_missing()
        elif now - self._looked_at < NEWS_SECONDS or not self._menu.may_have_changed():
            return
        self._looked_at, body = now, self._menu.menu().model_dump_json()
        if is_due or body != self._body:
            self._menu_at, self._body = now, body
            self._matches.set_menu(body, self._slots)
        if now - self._pruned_at > PRUNE_SECONDS:
            self._pruned_at = now
            self._matches.prune()

    def close(self) -> None:
        """End all processes; the next play host continues their matches."""
        self._programs.close()


# The program of the play host: it lets people play against bots in the browser, until it is ended.
#
# Where the machine has several cores, it and its bots use the last ones: ``executors/worker_start.py`` gives the first
# ones to workers of tournaments. On a single core, its niceness gives them priority.

PAUSE_SECONDS = 0.05
UNUSED_PAUSE_SECONDS = 0.5
"""While nobody plays; a process for a match takes longer to start."""
NICENESS = 10
"""Matches of tournaments come first."""
CORES_PER_PLAY_CORE = 4

_log = logging.getLogger("arena.community.play")


def main(arguments: list[str]) -> int:
    """Let people play until SIGTERM; the arguments are the parent process, the home, and the number of slots."""
    parent, directory, slots = arguments
    note = ProblemNote(directory, "play")

    def let_play() -> None:
        _keep_to_own_cores()
        keep_trying(lambda: _run(directory, int(slots), note), _log, "nobody can play now", note)

    return run_service(int(parent), NICENESS, let_play)


def _keep_to_own_cores() -> None:
    """Leave the first cores to workers of tournaments."""
    cores = available_cores()
    own = max(1, len(cores) // CORES_PER_PLAY_CORE)
    if len(cores) > 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores[-own:])


def _run(directory: str, slots: int, note: ProblemNote) -> None:
    containment = can_contain_uploads()
    uncontained = "" if containment.is_enough else f"people can only play against example bots: {containment.reason}"
    if uncontained:
        _log.error("%s", uncontained)
    isolation = "auto" if containment.isolation is None else containment.isolation.label
    with (
        open_people(directory) as people,
        ArenaHome(directory) as home,
        contextlib.closing(MenuMaker(home, slots, containment.is_enough)) as menu,
        contextlib.closing(Commits([people.commit_signal()])) as commits,
        contextlib.closing(Host(people.unrated_matches, commits, menu, slots, (directory, isolation))) as host,
    ):
        people.unrated_matches.release_left()  # by a play host that was killed: there is one at a time
        idleness = Idleness()
        while not idleness.is_over(host.is_used):
            host.step()
            note.report(uncontained) if uncontained else note.clear()
            time.sleep(PAUSE_SECONDS if host.is_used else UNUSED_PAUSE_SECONDS)


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
