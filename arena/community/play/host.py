"""The play host: a process for each unrated match that somebody plays, and never more than there are slots."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from multiprocessing.context import SpawnProcess

from arena.base.programs.service_program import starting_process
from arena.community.play import slot_program
from arena.community.play.menu import MenuMaker
from arena.store.people.play_slots import MENU_SECONDS
from arena.store.people.unrated_matches import UnratedMatches
from arena.store.results.commit_signal import Commits

PRUNE_SECONDS = 3600.0
NEWS_SECONDS = 1.0
"""From a look at what can be chosen to the next: a ladder may commit all the time."""
LEAVING_SECONDS = 1.5
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
        """Prepare.

        Args:
            matches: as they are stored.
            commits: to where they are stored.
            menu: what can be chosen.
            slots: how many matches may be played at once.
            arguments: of each process, after its parent and before the number of its match.
            clock: monotonic seconds.
        """
        self._clock, self._body = clock, ""
        self._matches, self._commits = matches, commits
        self._menu, self._slots, self._arguments = menu, slots, arguments
        self._running: dict[int, SpawnProcess] = {}
        self._context = multiprocessing.get_context("spawn")
        self._pruned_at = self._menu_at = self._looked_at = float("-inf")

    def step(self) -> None:
        """Do what there is to do now."""
        self._write_menu()
        for number, process in list(self._running.items()):
            if not process.is_alive():
                if (process.exitcode or 0) < 0:  # it was killed, and could not release its claim
                    self._matches.release_left(number)
                process.close()
                del self._running[number]
        if not (self._commits.are_new() or self._running):  # whoever plays may leave a slot to others
            return
        for number in self._matches.waiting():
            if number not in self._running and len(self._running) < self._slots:
                self._start(number)

    @property
    def is_used(self) -> bool:
        """Whether somebody plays."""
        return bool(self._running)

    def _start(self, number: int) -> None:
        arguments = [str(os.getpid()), *self._arguments, str(number)]
        process = self._context.Process(target=slot_program.main, args=(arguments,))
        with starting_process():
            process.start()
            self._running[number] = process

    def _write_menu(self) -> None:
        """Write what can be chosen when it has changed, and now and then to say that somebody is here."""
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
        """End all processes; their matches go on when a play host is here again."""
        for process in self._running.values():
            process.terminate()
        deadline = self._clock() + LEAVING_SECONDS
        for process in self._running.values():
            process.join(max(0.0, deadline - self._clock()))
            if process.exitcode is None:
                process.kill()
                process.join()
