"""Fair scheduling of a ladder: bots over their time quota, and bots behind void matches, are suspended from rounds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from arena.base.stored import from_json_text
from arena.store.results.rows import RecordRow, as_json
from arena.tournament.executors.executor import Executor, JobResult, Played, Void

# Who takes how much of the time in which a ladder is played, and who is therefore suspended from rounds.
#
# 1. The time in which a match was played is shared with those that were played meanwhile, so that all shares together
#    are the time that has passed. A worker that waits for a slow match costs time too, charged to that match.
# 2. The share of a match is charged to its bots as they thought.
# 3. Whoever costs more than twice what a bot of this ladder usually does owes the excess to each other entrant, and is
#    suspended until the others have had that time. So with n entrants a slow bot takes about an n-th of the time,
#    however slow it is; quick bots are never suspended.
# 4. Nobody is suspended for those who have nothing to learn: who is paired then is up to the ladder.

USUAL = 2.0
"""How many times the median a match of a bot may cost before the bot owes time."""

NEWEST_WEIGHT = 0.3
"""The weight of the latest match in the usual cost of a bot's matches."""


class EndedMatch(NamedTuple):
    """A recorded match: how long each bot (``name@version``) thought, and how many bytes of the record are its text."""

    match: int
    seconds: Mapping[str, float]
    text_bytes: Mapping[str, int] = {}


class TimeQuotas:
    """The time of one run."""

    def __init__(self) -> None:
        self._shares: dict[int, float] = {}
        self._usual: dict[str, float] = {}
        self._owed: dict[str, float] = {}

    def pass_time(
        self, seconds: float, ended: Sequence[EndedMatch], playing: Collection[int], present: Collection[str]
    ) -> None:
        """Charge the time since the last call, in which the matches of ``ended`` were recorded."""
        weights = {record.match: min(seconds, sum(record.seconds.values())) for record in ended}
        weights |= dict.fromkeys(playing, seconds)
        total = sum(weights.values())
        for match, weight in weights.items():
            self._shares[match] = self._shares.get(match, 0.0) + (seconds * weight / total if total else 0.0)
        for record in ended:
            self._charge(record, self._shares.pop(record.match), present)
        self._shares = {match: share for match, share in self._shares.items() if match in playing}

    def _charge(self, record: EndedMatch, share: float, present: Collection[str]) -> None:
        thought = sum(record.seconds.values())
        costs = {bot: share * seconds / thought if thought else 0.0 for bot, seconds in record.seconds.items()}
        for bot, owed in self._owed.items():
            self._owed[bot] = owed - sum(cost for other, cost in costs.items() if other != bot)
        for bot, cost in costs.items():
            before = self._usual.get(bot, cost)
            self._usual[bot] = before + NEWEST_WEIGHT * (cost - before)
        usual = median(self._usual[bot] for bot in self._usual if bot in present or bot in costs)
        for bot, cost in costs.items():
            excess = cost - USUAL * usual
            if excess > 0:
                self._owed[bot] = self._owed.get(bot, 0.0) + excess * max(1, len(present) - 1)
        self._owed = {bot: owed for bot, owed in self._owed.items() if owed > 0}

    def over_quota(self) -> dict[str, float]:
        """Return who is suspended while others want to play, and for how many seconds of the others' time."""
        return dict(self._owed)


# Void matches in a row: the bot behind them is suspended, and if they do not end, the whole run ends.
#
# 1. A bot whose matches were void six times in a row, with different rivals, is suspended: it is not paired, and its
#    matches are not tried. Its rivals play on. It tries again after a pause, and each further pause is twice as long.
# 2. When twelve matches in a row were void, whoever played them, the machine is at fault: the run ends, and whoever
#    supervises the tournament tries again later.
# 3. A match that is recorded ends both.

BOT_VOIDS = 6
RUN_VOIDS = 12
FIRST_PAUSE_SECONDS = 15.0
LONGEST_PAUSE_SECONDS = 3600.0


class VoidSuspensions:
    """The void matches of one run."""

    def __init__(self, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._now = now
        self.in_row = 0
        self._in_row_of: Counter[str] = Counter()
        self._rivals: dict[str, set[str]] = {}
        self._pauses: Counter[str] = Counter()
        self._until: dict[str, float] = {}

    def begin_run(self) -> None:
        """Begin another run: if void matches ended the last one, one more ends this one too."""
        self.in_row = min(self.in_row, RUN_VOIDS - 1)

    def note_recorded(self, bots: Collection[str]) -> None:
        """Note that a match has a record."""
        self.in_row = 0
        for bot in bots:
            for noted in (self._in_row_of, self._rivals, self._pauses, self._until):
                noted.pop(bot, None)

    def note_void(self, bots: Collection[str]) -> list[str]:
        """Note that a match was void; return who is suspended from now on."""
        self.in_row += 1
        began = []
        for bot in bots:
            self._in_row_of[bot] += 1
            self._rivals.setdefault(bot, set()).update(other for other in bots if other != bot)
            if self._in_row_of[bot] >= BOT_VOIDS and len(self._rivals[bot]) > 1 and bot not in self.suspended():
                pause = min(FIRST_PAUSE_SECONDS * 2 ** self._pauses[bot], LONGEST_PAUSE_SECONDS)
                self._pauses[bot] += 1
                self._until[bot] = self._now() + pause
                began.append(bot)
        return began

    def suspended(self) -> dict[str, float]:
        """Return who is suspended, and for how many seconds still."""
        now = self._now()
        return {bot: until - now for bot, until in self._until.items() if until > now}

    @property
    def has_too_many(self) -> bool:
        """Whether enough matches were void in a row for the run to end."""
        return self.in_row >= RUN_VOIDS


# Who is suspended from rounds of a supervised ladder: slow bots for a while, and those whose matches are void.
#
# A run without this pairs by results alone, so that the same results give the same schedule; with it, by the clock too.


class SuspendedBot(NamedTuple):
    """An entrant who is not paired for a while.

    Attributes:
        bot: ``name@version``.
        is_slow: whether that is because it is over its time quota; else its matches were void.
        seconds: how long still; if it is slow, of the others' time.
    """

    bot: str
    is_slow: bool
    seconds: float


class FairScheduling:
    """Who is suspended from rounds, in one program, which may play several runs.

    Attributes:
        voids: the void matches, and who is suspended because of them.
        away: who plays nothing, not even scheduled matches; the ladder's supervisor decides.
        text_bytes: the bytes of bots' text in records, until the ladder's supervisor has counted them.
    """

    def __init__(self, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self._now = now
        self._quotas, self.voids = TimeQuotas(), VoidSuspensions(now)
        self._seen_at = now()
        self.away: frozenset[str] = frozenset()
        self.text_bytes = Counter[str]()

    def begin(self) -> None:
        """Begin a run: the time before it is charged to nobody."""
        self._seen_at = self._now()
        self.voids.begin_run()

    def see(self, results: Sequence[JobResult], executor: Executor, present: Collection[str]) -> list[str]:
        """Note what came of matches since the last call; return who is suspended from now on by void ones."""
        now = self._now()
        ended = [_ended(result.row) for result in results if isinstance(result, Played)]
        playing = {live.match for live in executor.playing()}
        self._quotas.pass_time(now - self._seen_at, ended, playing - {record.match for record in ended}, present)
        self._seen_at = now
        began: list[str] = []
        for result in results:
            if isinstance(result, Void) and result.game_error is None:
                began += self.voids.note_void([bot.label for bot in result.spec.bots])
        for record in ended:
            self.voids.note_recorded(record.seconds)
            self.text_bytes.update(record.text_bytes)
        return began

    def excluded(self) -> frozenset[str]:
        """Return who must not be paired, even if nobody else wants to play."""
        return self.away.union(self.voids.suspended())

    def over_quota(self) -> frozenset[str]:
        """Return who must not be paired while others want to play."""
        return frozenset(self._quotas.over_quota())

    def suspended(self) -> list[SuspendedBot]:
        """Return every suspended bot, with the reason."""
        by_voids = self.voids.suspended()
        behind_voids = [SuspendedBot(bot, False, seconds) for bot, seconds in sorted(by_voids.items())]
        slow = sorted(self._quotas.over_quota().items())
        return behind_voids + [SuspendedBot(bot, True, seconds) for bot, seconds in slow if bot not in by_voids]


def _ended(row: RecordRow) -> EndedMatch:
    bots = from_json_text(row.bots, "a record")
    record = from_json_text(row.record, "a record")
    seconds, text_bytes = dict[str, float](), Counter[str]()
    for bot, seat in zip(bots, record["seats"], strict=True):
        seconds[bot] = seconds.get(bot, 0.0) + float(seat["wall_seconds"])
        text_bytes[bot] += len(seat["stderr"].encode(errors="replace"))
    for fault in record["faults"]:
        text_bytes[bots[fault["seat"]]] += len(fault["detail"])
    for ply, note in record["notes"]:
        text_bytes[bots[record["actions"][ply][0]]] += len(as_json(note))
    return EndedMatch(row.match, seconds, text_bytes)
