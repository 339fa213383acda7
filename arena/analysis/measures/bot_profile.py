"""How a bot did: head to head with its rivals, and its profile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby, permutations
from math import ceil
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, TypeVar

from arena.analysis.measures.leaderboards import history_over_tournaments, points_of
from arena.analysis.measures.values import RatingPoint, Rival
from arena.base.enums import FaultKind
from arena.base.records import TimeControl
from arena.base.results import StoredResult
from arena.ratings.consistency import PairScore
from arena.ratings.environment import CONFIDENCE_95
from arena.ratings.result_arrays import counting
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store
from arena.store.results.values import Correction, StoredFault, StoredTournament, in_force

# How bots did against rivals: the one place that counts it, for profiles and for comparisons of two.
#
# Wins, draws and losses count every match. The score is a mean over encounters: the two matches of an opening with
# seats exchanged belong together, and a duplicate shows nothing new (``ratings/result_arrays.py``), so matches are no
# independent observations and encounters are. Its interval is 1.96 standard errors of that mean, with the variance of
# the encounters drawn a little towards a coin's (``ratings/consistency.py``).

MAX_ENCOUNTERS_TO_GO = 100_000
"""A larger estimate of the encounters that would decide is not given."""

Key = TypeVar("Key", bound=Hashable)


class Meeting(NamedTuple):
    """A bot and a rival in a match. ``share`` is 1 if the bot came out ahead, 1/2 in a tie, else 0.

    Attributes:
        counts: whether the match counts for the score.
    """

    tournament: int
    encounter: int
    game: str
    bot: str
    rival: str
    seat: int
    share: float
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadToHead:
    """How a bot did against rivals; a win is a match in which it came out ahead of the rival.

    Attributes:
        duplicates: how many of these matches do not count for the score.
        score: the mean over encounters of the share of points, from 0 to 1; None without one.
        margin: half the width of its 95 % interval.
    """

    wins: int
    draws: int
    losses: int
    duplicates: int = 0
    encounters: int = 0
    score: float | None = None
    margin: float | None = None

    @property
    def matches(self) -> int:
        """All meetings."""
        return self.wins + self.draws + self.losses

    @property
    def score_percent(self) -> float | None:
        """The score, from 0 to 100."""
        return None if self.score is None else 100 * self.score

    @property
    def margin_percent(self) -> float | None:
        """The margin of that."""
        return None if self.margin is None else 100 * self.margin

    @property
    def is_clear(self) -> bool:
        """Whether the interval lies on one side of one half."""
        return self.score is not None and self.margin is not None and abs(self.score - 0.5) > self.margin

    @property
    def encounters_to_go(self) -> int | None:
        """About how many more encounters would decide if the score stays as it is; None if nobody can say."""
        if self.score is None or self.margin is None or self.score == 0.5 or self.is_clear:
            return None
        more = self.encounters * ((self.margin / (self.score - 0.5)) ** 2 - 1)
        return max(1, ceil(more)) if more <= MAX_ENCOUNTERS_TO_GO else None


def meetings(
    results: Iterable[StoredResult], bots: Collection[str], rivals: Collection[str] | None = None
) -> list[Meeting]:
    """Return every meeting of bots with rivals (None: all others); results come in schedule order, by tournament."""
    all_results = list(results)
    met = []
    for result, is_rated in zip(all_results, are_rated(all_results), strict=True):
        encounter = (result.tournament, result.encounter, result.game)
        for (seat, bot), (rival_seat, rival) in permutations(enumerate(result.bots), 2):
            if bot in bots and (rival not in bots if rivals is None else rival in rivals):
                met.append(Meeting(*encounter, bot, rival, seat, _share(result, seat, rival_seat), is_rated))
    return met


def are_rated(results: Sequence[StoredResult]) -> list[bool]:
    """Return for each match of some bots whether it counts for ratings: no duplicate, and no bot against itself."""
    openings = [f"{result.opening_hash} {result.bots}" for result in results]
    flags = counting(openings, [result.actions_hash for result in results])
    return [bool(counts) and len({*own.bots}) == len(own.bots) for own, counts in zip(results, flags, strict=True)]


def _share(result: StoredResult, seat: int, rival_seat: int) -> float:
    own_rank, rival_rank = result.ranks[seat], result.ranks[rival_seat]
    return (own_rank < rival_rank) + (own_rank == rival_rank) / 2


def head_to_head(met: Iterable[Meeting]) -> HeadToHead:
    """Return how the bots in meetings did against their rivals; meetings of an encounter come together."""
    all_meetings = list(met)
    wins, losses = (sum(meeting.share == share for meeting in all_meetings) for share in (1.0, 0.0))
    draws = len(all_meetings) - wins - losses
    counted = [meeting for meeting in all_meetings if meeting.counts]
    by_encounter = groupby(counted, key=attrgetter("tournament", "encounter"))
    shares = [fmean(meeting.share for meeting in group) for _, group in by_encounter]
    if not shares:
        return HeadToHead(wins=wins, draws=draws, losses=losses, duplicates=len(all_meetings))
    pair = _pair_score(shares)
    return HeadToHead(
        wins=wins,
        draws=draws,
        losses=losses,
        duplicates=len(all_meetings) - len(counted),
        encounters=pair.encounters,
        score=pair.score,
        margin=CONFIDENCE_95 * pair.error,
    )


def _pair_score(shares: Sequence[float]) -> PairScore:
    mean = fmean(shares)
    variance = sum((share - mean) ** 2 for share in shares) / max(1, len(shares) - 1)
    return PairScore(score=mean, variance=variance, encounters=len(shares))


def grouped(met: Iterable[Meeting], key: Callable[[Meeting], Key]) -> dict[Key, HeadToHead]:
    """Return how the bots in meetings did, by a key of each, in the order in which the keys come first."""
    groups: dict[Key, list[Meeting]] = {}
    for meeting in met:
        groups.setdefault(key(meeting), []).append(meeting)
    return {value: head_to_head(group) for value, group in groups.items()}


# The profile of a bot: its ratings over time, its rivals, its faults.

MAX_FAULTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class BotProfile:
    """What the store has about a bot.

    Attributes:
        rivals: the rivals, the best score first.
        faults: the latest, the last first; ``fault_kinds`` counts all of them.
        corrections: those of the bot that are not undone, each with the name of its tournament.
        own_times: the tournaments in which it has a time control of its own, for odds.
    """

    label: str
    history: tuple[RatingPoint, ...]
    rivals: tuple[Rival, ...]
    faults: tuple[StoredFault, ...]
    fault_kinds: Mapping[FaultKind, int]
    corrections: tuple[tuple[str, Correction], ...] = ()
    own_times: tuple[tuple[str, TimeControl], ...] = ()

    @property
    def fault_count(self) -> int:
        """The number of all its faults."""
        return sum(self.fault_kinds.values())


def known_bots(tournaments: Sequence[StoredTournament]) -> list[str]:
    """Return the ``name@version`` of every bot that took part in a tournament, the earliest first."""
    return list(dict.fromkeys(bot.label for tournament in tournaments for bot in tournament.definition.entrants))


def bot_profile(
    store: Store,
    label: str,
    scope: Scope = ALL_BUT_COMPARISONS,
    *,
    cache_directory: Path | None = None,
    max_matches: int | None = None,
) -> BotProfile:
    """Return the profile of a bot: ratings and rivals within the scope, faults in all tournaments.

    For ``max_matches`` see ``history_over_tournaments``.
    """
    played = [tournament for tournament in store.tournaments(scope) if label in known_bots([tournament])]
    names = [tournament.name for tournament in played]
    history: list[RatingPoint] = []
    for game in sorted({game for tournament in played for game in tournament.games}):
        over = history_over_tournaments(
            store, game, scope, names, cache_directory=cache_directory, max_matches=max_matches
        )
        history += points_of(over, game, label)
    return BotProfile(
        label=label,
        history=tuple(history),
        rivals=tuple(_rivals(store, label, scope)),
        faults=tuple(store.faults_of(label, MAX_FAULTS)),
        fault_kinds=store.fault_counts_of([label]),
        corrections=tuple((tournament.name, c) for tournament in played for c in _corrections(tournament, label)),
        own_times=tuple(
            (tournament.name, bot.time_control)
            for tournament in played
            for bot in tournament.definition.entrants
            if bot.label == label and bot.time_control is not None
        ),
    )


def _corrections(tournament: StoredTournament, label: str) -> list[Correction]:
    entrants = tournament.definition.entrants
    return [
        c
        for c in in_force(tournament.corrections)
        if c.details.entrant is not None and entrants[c.details.entrant].label == label
    ]


def _rivals(store: Store, label: str, scope: Scope) -> list[Rival]:
    met = meetings(store.matches_of([label], within=scope).results(), [label])
    shown = [part.name for part in fields(Rival)[1:]]
    rivals = [
        Rival(rival=rival, **{name: getattr(total, name) for name in shown})
        for rival, total in grouped(met, attrgetter("rival")).items()
        if total.score is not None
    ]
    return sorted(rivals, key=lambda rival: (-rival.score_percent, rival.rival))
