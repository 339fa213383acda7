"""The profile of a bot: its ratings over time, its rivals, its faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from arena.analysis.measures.head_to_head import HeadToHead, grouped, meetings
from arena.analysis.measures.rating_history import history_over_tournaments
from arena.analysis.measures.standings import Standing
from arena.base.enums import FaultKind
from arena.base.errors import UnknownNameError
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.store import Store
from arena.store.results.values import Correction, StoredFault, StoredTournament, in_force

MAX_FAULTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingPoint:
    """A bot's standing on the leaderboard of a game after a tournament.

    Attributes:
        game: the game's name.
        tournament: the tournament's name.
        at: when it began (UTC, ISO 8601).
        bots: the number of bots on the leaderboard.
        standing: the bot's line.
    """

    game: str
    tournament: str
    at: str
    bots: int
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """How a bot did against another, over all tournaments that count.

    Attributes:
        rival: ``name@version``.
        score: the share of points, from 0 to 1, by encounters.
        margin: half the width of its 95 % interval.
        encounters: their number.
        total: the same, with wins, draws and losses.
    """

    rival: str
    score: float
    margin: float
    encounters: int
    total: HeadToHead = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotProfile:
    """What the store has about a bot.

    Attributes:
        label: ``name@version``.
        history: its rating after each tournament, game by game.
        rivals: the one with the best score first.
        faults: the latest, the last first.
        fault_kinds: the number of all its faults, by their kinds.
        corrections: those of the bot that are not undone, each with the name of its tournament.
    """

    label: str
    history: tuple[RatingPoint, ...]
    rivals: tuple[Rival, ...]
    faults: tuple[StoredFault, ...]
    fault_kinds: Mapping[FaultKind, int]
    corrections: tuple[tuple[str, Correction], ...] = ()

    @property
    def fault_count(self) -> int:
        """The number of all its faults."""
        return sum(self.fault_kinds.values())


def known_bots(tournaments: Sequence[StoredTournament]) -> list[str]:
    """Return the ``name@version`` of every bot that took part in a tournament, the earliest first."""
    return list(dict.fromkeys(bot.label for tournament in tournaments for bot in tournament.definition.entrants))


def find_labels(text: str, known: Sequence[str]) -> list[str]:
    """Return the bots that ``name`` (all versions) or ``name@version`` means.

    Raises:
        UnknownNameError: if there is no such bot.
    """
    labels = [label for label in known if text in (label, label.rpartition("@")[0])]
    if not labels:
        raise UnknownNameError("bot", text, known)
    return labels


def bot_profile(
    store: Store,
    label: str,
    scope: Scope = ALL_BUT_COMPARISONS,
    *,
    cache_directory: Path | None = None,
    max_matches: int | None = None,
) -> BotProfile:
    """Return the profile of a bot.

    Args:
        store: where tournaments are.
        label: its ``name@version``.
        scope: the tournaments that count for its ratings and rivals, by default all but comparisons. Its faults are
            those in all tournaments.
        cache_directory: where leaderboards are cached; None for no cache.
        max_matches: see ``history_over_tournaments``.

    Raises:
        UnknownNameError: if the scope names a tournament or a season that does not exist.
    """
    played = [
        tournament
        for tournament in store.tournaments(scope)
        if label in (bot.label for bot in tournament.definition.entrants)
    ]
    names = [tournament.name for tournament in played]
    games = sorted({game for tournament in played for game in tournament.games})
    return BotProfile(
        label=label,
        history=tuple(
            RatingPoint(game=game, tournament=snapshot.title, at=snapshot.at, bots=len(snapshot.lines), standing=line)
            for game in games
            for snapshot in history_over_tournaments(
                store, game, scope, names, cache_directory=cache_directory, max_matches=max_matches
            )
            for line in snapshot.lines
            if line.label == label
        ),
        rivals=tuple(_rivals(store, label, scope)),
        faults=tuple(store.faults_of(label, MAX_FAULTS)),
        fault_kinds=store.fault_counts_of([label]),
        corrections=tuple((tournament.name, c) for tournament in played for c in _corrections(tournament, label)),
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
    rivals = [
        Rival(rival=rival, score=score.score, margin=score.margin or 0.0, encounters=score.encounters, total=score)
        for rival, score in grouped(met, attrgetter("rival")).items()
        if score.score is not None
    ]
    return sorted(rivals, key=lambda rival: (-rival.score, rival.rival))
