"""What a person may see of a contest: only this module decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from arena.store.people.contest import Contest, ContestPhase, ContestResults, StoredContest, phase_of
from arena.store.people.values import EmbargoedTournament, Permission

if TYPE_CHECKING:
    from arena.site.frame.model import Frozen


class ContestHome(StrEnum):
    """Where matches of a contest are."""

    PUBLIC = "public"
    """In the arena's home, which everybody reads."""
    EMBARGOED = "hidden"
    """In a home of the contest's own."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """What somebody may see now.

    Attributes:
        home: where they read the latest results that they may see.
        has_all: whether these are all there are. If not, they see what was there when results were embargoed.
        hidden_since: since when only directors see results, for sealed ones the opening; None if everybody sees them.
    """

    home: ContestHome
    has_all: bool
    hidden_since: str | None


def visible(stored: StoredContest, permissions: Collection[Permission], now: str) -> Visibility:
    """Return what somebody with these permissions may see of results; with none, what everybody may see."""
    since = _embargoed_since(stored, now)
    if since is None:
        return Visibility(ContestHome.PUBLIC, True, None)
    if Permission.DIRECT in permissions:
        return Visibility(ContestHome.EMBARGOED, True, since)
    return Visibility(ContestHome.PUBLIC, False, since)


def visible_phase(stored: StoredContest, permissions: Collection[Permission], now: str) -> ContestPhase:
    """Return the phase that a person may know: the end of embargoed matches would reveal something of their results."""
    phase = phase_of(stored, now)
    is_secret = phase is ContestPhase.PLAYED and not visible(stored, permissions, now).has_all
    return ContestPhase.PLAYING if is_secret else phase


def embargoed_tournaments(
    contests: Iterable[StoredContest], permissions: Collection[Permission], now: str
) -> frozenset[EmbargoedTournament]:
    """Return the tournaments of which somebody may not see all results, nor what is said about them since."""
    visibilities = ((stored, visible(stored, permissions, now)) for stored in contests)
    return frozenset(
        EmbargoedTournament(name, visibility.hidden_since)
        for stored, visibility in visibilities
        if visibility.hidden_since is not None and not visibility.has_all
        for name in stored.contest.tournaments
    )


def are_results_public(stored: StoredContest, now: str) -> bool:
    """Return whether a contest is over, and everybody sees all of its results."""
    return phase_of(stored, now) is ContestPhase.FINISHED and visible(stored, (), now).has_all


def playing_home(stored: StoredContest, now: str) -> ContestHome:
    """Return the home for a match that ends now, which only people who may see it can read."""
    return ContestHome.PUBLIC if visible(stored, (), now).has_all else ContestHome.EMBARGOED


def _embargoed_since(stored: StoredContest, now: str) -> str | None:
    if stored.revealed_at is not None or stored.contest.results is ContestResults.OPEN:
        return None
    if stored.contest.results is ContestResults.SEALED:
        return stored.contest.opens_at
    since = stored.freeze_at
    return since if since is not None and since <= now else None


def frozen_results(contests: Iterable[StoredContest], tournament: str, now: str) -> Frozen | None:
    """Return whether results of a tournament are hidden, and the address of its contest; None outside contests."""
    from arena.site.frame.model import Frozen  # loads pydantic, without which others ask what is visible

    stored = next((candidate for candidate in contests if tournament in candidate.contest.tournaments), None)
    if stored is None:
        return None
    return Frozen(sentence=_frozen_sentence(stored, now), address=f"/contests/{stored.name}")


def _frozen_sentence(stored: StoredContest, now: str) -> str:
    if stored.revealed_at is not None or stored.contest.results is ContestResults.OPEN:
        return ""
    since = visible(stored, (), now).hidden_since
    return f"Frozen since {_moment(stored, since)}; {_until(stored, now)}." if since is not None else ""


def _until(stored: StoredContest, now: str) -> str:
    reveal_at = stored.contest.reveal_at
    if stored.cancelled_at is not None:
        return "the contest was cancelled, and they stay hidden"
    if reveal_at is None:
        return "results return when a director reveals them"
    if reveal_at <= now:
        return "results return when everything is played"
    return f"results return on {_moment(stored, reveal_at)}"


def _moment(stored: StoredContest, at: str) -> str:
    local, zone = local_texts(stored.contest, at)
    return f"{local} ({zone})"


def local_texts(contest: Contest, at: str) -> tuple[str, str]:
    """Return a stored time as the people of a contest read it, and its time zone."""
    local = contest.local(at)
    zone = f"{contest.time_zone}, {_offset_text(local)}" if contest.time_zone != "UTC" else "UTC"
    return f"{local:%a} {local.day} {local:%b %Y, %H:%M:%S}", zone


def _offset_text(local: datetime) -> str:
    offset = local.utcoffset() or timedelta()
    hours, minutes = divmod(abs(int(offset.total_seconds())) // 60, 60)
    return f"UTC{'−' if offset < timedelta() else '+'}{hours:02}:{minutes:02}"
