"""The program of a slot at the play host: a process that plays one unrated match on, as long as somebody plays it."""

from __future__ import annotations

import os
import signal
import threading
import time

from arena.base.errors import DatabaseError
from arena.base.programs.service_program import TerminatedError, end_now, run_service
from arena.community.play.slot import Slot
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome, open_people
from arena.store.people.play_slots import CLAIM_SECONDS, MatchClaim


def main(arguments: list[str]) -> None:
    """Play a match on; the arguments are the parent process, the home, the bot's isolation, and the match's number."""
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
            threading.Thread(target=_keep_up, args=(claim, slot), daemon=True).start()
            slot.play()
        except TerminatedError:
            claim.release()  # the next play host continues it at once
            raise


def _keep_up(claim: MatchClaim, slot: Slot) -> None:
    """Keep the claim up. If it is lost, or the rules never return, this process ends, and its bot with it."""
    while True:
        time.sleep(CLAIM_SECONDS / 5)
        until = slot.busy_until
        try:
            is_kept = claim.keep()
        except DatabaseError:
            continue  # if it lasts, the claim is lost
        if until is not None and time.monotonic() > until:
            os.kill(os.getpid(), signal.SIGKILL)
        if not is_kept:
            os.kill(os.getpid(), signal.SIGTERM)
