"""Submitting a bot at a site, and waiting for what becomes of it.

The other end is ``arena/server/operations/submissions.py``. Submitting the same bytes again is the same submission, so
whatever was interrupted is simply done again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from arena.base.errors import SiteAwayError
from arena.cli.remote.exchange import Progress, printable_line, printable_sentence, printable_text
from arena.cli.remote.site_client import Fields, SiteClient
from arena.store.people.values import FINAL, SubmissionState

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 3.0
MAX_PAUSE_SECONDS = 30.0
"""Between two tries while the site is away."""
MAX_TRIES_AWAY = 20
MAX_REPORT_CHARACTERS = 200_000

_PLACE = re.compile(r"/submissions/([1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a submission."""

    number: int
    state: SubmissionState
    bot: str | None
    reason: str


def upload_bot(
    client: SiteClient, file: BinaryIO, size_bytes: int, file_name: str, note: str, progress: Progress
) -> int:
    """Submit a file, and return the number of the submission."""
    answer = client.upload("/submissions", file, size_bytes, progress=progress, file_name=file_name, note=note)
    match = _PLACE.fullmatch(Fields(answer, client.no_arena()).text("to"))
    if match is None:
        raise client.no_arena()
    return int(match[1])


def follow(
    client: SiteClient, number: int, listener: Callable[[str], None], pause_for: Callable[[float], None] = time.sleep
) -> Outcome:
    """Wait until a submission is decided."""
    shown, pause, away = 0, FIRST_PAUSE_SECONDS, 0
    while True:
        try:
            answer = client.get_json(f"/submissions/{number}")
        except SiteAwayError as error:
            away += 1
            if away >= MAX_TRIES_AWAY:
                raise
            pause_for(max(min(2.0**away, MAX_PAUSE_SECONDS), error.retry_after_seconds or 0))
            continue
        away = 0
        outcome, lines = _read(client, number, answer)
        # the last line may still grow while it is being checked
        ready = lines if outcome is not None else lines[:-1]
        for line in ready[shown:]:
            listener(printable_line(line))
        shown = max(shown, len(ready))
        if outcome is not None:
            return outcome
        pause_for(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE_SECONDS)


def _read(client: SiteClient, number: int, answer: dict[str, object]) -> tuple[Outcome | None, list[str]]:
    line, details = answer.get("line"), answer.get("details")
    if not isinstance(line, dict) or not isinstance(details, dict):
        raise client.no_arena()
    report, reason, bot = details.get("report"), details.get("reason"), line.get("bot")
    if not isinstance(report, str) or not isinstance(reason, str) or not isinstance(bot, str | None):
        raise client.no_arena()
    state = next((state for state in SubmissionState if state == line.get("state")), None)
    if state is None:
        raise client.no_arena()
    lines = report[:MAX_REPORT_CHARACTERS].splitlines()
    if state not in FINAL:
        return None, lines
    shown = printable_sentence(bot) if bot is not None else None
    return Outcome(number, state, shown, printable_text(reason)), lines
