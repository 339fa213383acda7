"""Which bots play nowhere in public while results of a contest are hidden: what they do elsewhere would tell them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from arena.people.contest import ContestResults, StoredContest


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of the bots of a contest.

    Attributes:
        contest: the contest.
        since: the first second in which they rest.
        names: of every bot that its author could enter, whatever games it plays. All versions of a bot rest, since an
            earlier one tells as much.
    """

    contest: StoredContest
    since: str
    names: frozenset[str]

    def holds(self, name: str, games: Collection[str], now: str) -> bool:
        """Return whether a bot rests.

        Args:
            name: of the bot, without its version.
            games: that it plays; none for all.
            now: the time, as it is stored.
        """
        plays = not games or self.contest.contest.game in games
        return self.since <= now and plays and name in self.names


def rest_begins_at(stored: StoredContest) -> str | None:
    """Return from when on the bots of a contest rest; None if they never do, or not any more.

    A contest that was cancelled will have no result to give away: its bots play again.
    """
    contest = stored.contest
    if contest.ladders or stored.revealed_at is not None or stored.cancelled_at is not None:
        return None
    return contest.opens_at if contest.results is ContestResults.SEALED else stored.freeze_at


def rest_of(rests: Iterable[Rest], label: str, games: Collection[str], now: str) -> Rest | None:
    """Return the rest of a bot that ends last, as far as that is known; None if it plays.

    Args:
        rests: of all contests.
        label: ``name@version``, or the name alone.
        games: that it plays; none for all.
        now: the time, as it is stored.
    """
    name = label.rpartition("@")[0] or label
    found = [one for one in rests if one.holds(name, games, now)]
    return max(found, key=lambda one: (one.contest.contest.reveal_at or "~", one.contest.number), default=None)


def rest_sentence(rest: Rest, now: str) -> str:
    """Return until when a bot rests, to follow its name in a sentence.

    Args:
        rest: of the bot.
        now: the time, as it is stored.
    """
    stored = rest.contest
    contest = stored.contest
    if contest.reveal_at is None:
        until = "a director reveals them"
    elif contest.reveal_at <= now:
        until = "everything is played"
    else:
        until = f"{contest.local(contest.reveal_at):%Y-%m-%d %H:%M} ({contest.time_zone})"
    return f"rests while results of the contest {contest.name} are hidden, until {until}"
